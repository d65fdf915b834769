import { PassThrough } from 'node:stream';
import type { Cli } from './cli.js';
import { type CommandDescription, describeProgram } from './describe-program.js';
import { buildProgram } from './run-cli.js';

export type { CommandDescription } from './describe-program.js';

/** Every command, for the reference of commands. */
export const describeCommands = async (): Promise<CommandDescription[]> => {
  const io = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    cwd: '/',
    now: () => new Date(0),
    onInterrupt: () => () => {},
  };
  const cli: Cli = {
    now: () => new Date(0),
    run: async () => {},
    serve: async () => {},
    program: () => buildProgram(cli, io, ['help']),
  };
  return describeProgram(await cli.program());
};
