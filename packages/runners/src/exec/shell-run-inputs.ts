import type { JsonObject } from '@capstan/contracts';
import type { ToolFailure } from '../runner.js';

export type ShellRunInputs = { cmd: readonly [file: string, ...args: string[]]; stdin: string | undefined };

const NUL = '\0';

/** Checked here again, whatever admission checked: this is the last place before a process starts. */
export const parseShellRunInputs = (inputs: JsonObject): ShellRunInputs | ToolFailure => {
  const { cmd, stdin, ...unknown } = inputs;
  const [name] = Object.keys(unknown);
  if (name !== undefined) return invalid(`shell.run takes cmd and stdin, not "${name}"`);
  if (!Array.isArray(cmd)) return invalid('cmd must be an array: the executable, then its arguments');
  const [file, ...args] = cmd;
  if (typeof file !== 'string' || file === '') return invalid('cmd must begin with the name of an executable');
  if (!args.every((arg) => typeof arg === 'string')) return invalid('every element of cmd must be a string');
  if ([file, ...args].some((arg) => arg.includes(NUL))) {
    return invalid('an element of cmd holds a NUL byte, which no argument of a process can');
  }
  if (stdin !== undefined && typeof stdin !== 'string') return invalid('stdin must be a string');
  return { cmd: [file, ...args], stdin };
};

const invalid = (error: string): ToolFailure => ({ success: false, error, kind: 'INVALID_INPUTS', retryable: false });
