import { type Logger, pino } from 'pino';
import { prettyLine } from './pretty-line.js';

export type Log = Logger;

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogOptions = {
  /** For people who read along; JSON is for everything that collects lines. */
  format?: (typeof LOG_FORMATS)[number];
  /** Takes secrets out of every line as it is written: a connection error may quote the URL it failed on. */
  redact?: (line: string) => string;
};

/**
 * One JSON object a line: `time` (RFC 3339), `level`, `service`, `msg`; and, where they are known, `trace_id`,
 * `invocation_id`, `run_id`, `tenant`, `request_id`.
 */
export function createLog(service: string, level: string, { format = 'json', redact }: LogOptions = {}): Log {
  const options = {
    base: { service },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ['req.headers.authorization'],
  };
  if (!redact && format === 'json') return pino(options);
  const safe = redact ?? ((line) => line);
  const show = format === 'pretty' ? prettyLine : (line: string) => line;
  return pino(options, { write: (line) => void process.stdout.write(show(safe(line))) });
}
