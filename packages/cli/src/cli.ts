import type { Command } from 'commander';
import type { ExitCode } from './exit-code.js';
import type { GlobalOptions, Session } from './session.js';

/** What commands get from the program they are added to. */
export type Cli = {
  now(): Date;
  /** Runs the body of a command with an open session, reports its errors and sets the exit code. */
  run(command: Command, body: (session: Session) => Promise<ExitCode>): Promise<void>;
  /** Runs a service until it stops. Services handle signals and read the environment themselves. */
  serve(command: Command, start: () => Promise<void>): Promise<void>;
  /** The program with all commands loaded, for shell completion and the reference. */
  program(): Promise<Command>;
};

export type AddCommand = (program: Command, cli: Cli) => void;

export const globalOptions = (command: Command): GlobalOptions => command.optsWithGlobals<GlobalOptions>();
