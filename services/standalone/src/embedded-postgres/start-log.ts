/** The logger of a start; a pino logger fits. */
export interface StartLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export const silentLog: StartLog = { info() {}, warn() {}, error() {} };
