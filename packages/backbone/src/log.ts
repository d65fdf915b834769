import { type Logger, pino, type SerializedError, stdSerializers } from 'pino';

export type Log = Logger;

export const LOG_FORMATS = ['json', 'pretty'] as const;
export type LogOptions = {
  /** `pretty` is for people, `json` for log collectors. */
  format?: (typeof LOG_FORMATS)[number];
  /** Removes secrets from every line: a connection error may quote its URL. */
  redact?: (line: string) => string;
};

/**
 * One JSON object per line: `time` (RFC 3339), `level`, `service`, `msg`; and, if they are known, `trace_id`,
 * `invocation_id`, `run_id`, `tenant`, `request_id`.
 */
export function createLog(service: string, level: string, { format = 'json', redact }: LogOptions = {}): Log {
  const options = {
    base: { service },
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: stdSerializers.wrapErrorSerializer(toLoggedError) },
    redact: ['req.headers.authorization'],
  };
  if (!redact && format === 'json') return pino(options);
  const safe = redact ?? ((line) => line);
  const show = format === 'pretty' ? prettyLine : (line: string) => line;
  return pino(options, { write: (line) => void process.stdout.write(show(safe(line))) });
}

/** Only these fields: an error of Redis has the command with its password in another one, and one of Postgres the row that it refused. */
const toLoggedError = ({ type, message, stack, code }: SerializedError) => ({ type, message, stack, code });

type Line = {
  time?: string;
  level?: string;
  service?: string;
  msg?: string;
  err?: { stack?: string; message?: string };
};

/** `03:04:05.678 WARN  gateway  a request failed  request_id=req-1`, followed by the stack of an error. */
function prettyLine(line: string): string {
  let parsed: Line & Record<string, unknown>;
  try {
    parsed = JSON.parse(line);
  } catch {
    return line;
  }
  const { time = '', level = '', service = '', msg = '', err, ...rest } = parsed;
  const facts = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const head = [time.slice(11, 23), level.toUpperCase().padEnd(5), service.padEnd(11), msg, ...facts].join(' ');
  const stack = err?.stack ?? err?.message;
  return `${head}\n${stack ? `${stack.replace(/^/gm, '    ')}\n` : ''}`;
}
