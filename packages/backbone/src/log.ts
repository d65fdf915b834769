import { type Logger, pino } from 'pino';

export type Log = Logger;

/** `redact` takes secrets out of every line as it is written: a connection error may quote the URL it failed on. */
export const createLog = (name: string, level: string, redact?: (line: string) => string): Log => {
  const options = { name, level, redact: ['req.headers.authorization'] };
  return redact ? pino(options, { write: (line) => void process.stdout.write(redact(line)) }) : pino(options);
};
