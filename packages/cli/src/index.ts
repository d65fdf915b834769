export { type CommandDescription, describeCommands } from './describe-commands.js';
export { EXIT, type ExitCode } from './exit-code.js';
export type { Io } from './io.js';
export { runCli } from './run-cli.js';
