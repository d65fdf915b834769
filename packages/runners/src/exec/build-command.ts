import { basename } from 'node:path';
import type { ShellRunInputs } from './shell-run-inputs.js';

/** What is started, completely: nothing is added to it later. A sandbox puts its own command line around it here. */
export type Command = {
  /** How messages call it. */
  name: string;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Record<string, string>;
  stdin: string | undefined;
};

export type Environment = Record<string, string | undefined>;

/** A tool sees no other variable of the worker, whose environment holds its secrets. */
const ALLOWED_VARIABLES = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TMPDIR'];

export const buildCommand = ({ cmd, stdin }: ShellRunInputs, place: { cwd: string; env: Environment }): Command => {
  const [file, ...args] = cmd;
  return { name: basename(file) || file, file, args, cwd: place.cwd, env: cleanEnvironment(place.env), stdin };
};

const cleanEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    ALLOWED_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
