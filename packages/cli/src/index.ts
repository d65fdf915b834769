export { EXIT, type ExitCode } from './exit-code.js';
export type { Io } from './io.js';
export { runCli } from './run-cli.js';
