import { type Logger, pino } from 'pino';

export type Log = Logger;

export const createLog = (name: string, level: string): Log =>
  pino({ name, level, redact: ['req.headers.authorization'] });
