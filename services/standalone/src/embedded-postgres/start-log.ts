/** What the start reports to; a pino logger is one. */
export interface StartLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export const silentLog: StartLog = { info() {}, warn() {}, error() {} };
