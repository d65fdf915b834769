import type { Command } from 'commander';
import type { ExitCode } from './exit-code.js';
import type { GlobalOptions, Session } from './session.js';

/** What a command needs to be part of the whole. */
export type Cli = {
  now(): Date;
  /** Runs the body of a command with an open session, reports what it throws and keeps its exit code. */
  run(command: Command, body: (session: Session) => Promise<ExitCode>): Promise<void>;
  /** Runs a service until it has stopped. It has its own way with signals and with the environment. */
  serve(command: Command, start: () => Promise<void>): Promise<void>;
};

export type AddCommand = (program: Command, cli: Cli) => void;

export const globalOptions = (command: Command): GlobalOptions => command.optsWithGlobals<GlobalOptions>();
