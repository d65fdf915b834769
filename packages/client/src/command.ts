import type { CommandHelp, CommandInvocation, TypedCommand } from '@capstan/contracts';
import type { Transport } from './transport.js';

export type CommandOptions = { wait_s?: number | undefined; signal?: AbortSignal | undefined };

/** Runs a slash command, or returns its help. */
export type RunCommand = (typed: TypedCommand, options?: CommandOptions) => Promise<CommandInvocation | CommandHelp>;

export const runCommand =
  (transport: Transport): RunCommand =>
  (typed, { wait_s = 0, signal } = {}) =>
    transport.json('POST', '/v1/commands', {
      body: typed,
      headers: wait_s > 0 ? { prefer: `wait=${Math.ceil(wait_s)}` } : {},
      wait_s,
      signal,
    });
