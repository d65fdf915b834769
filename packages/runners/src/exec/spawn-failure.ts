import type { ToolFailure } from '../runner.js';
import type { Command } from './build-command.js';
import { packageOf } from './package-of.js';

/** What a failed start means to whoever asked for it. */
export const spawnFailure = ({ name, file, env }: Command, code: string, message: string): ToolFailure => {
  switch (code) {
    case 'ENOENT':
      return failure('EXECUTABLE_NOT_FOUND', missing(name, file, env.PATH));
    case 'EACCES':
    case 'EPERM':
      return failure('TOOL_ERROR', `${file} may not be executed by the worker's user (${code}); check its permissions`);
    case 'E2BIG':
      return failure('INVALID_INPUTS', `the arguments of ${name} are longer than the system takes; pass them by stdin`);
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return { ...failure('RUNNER_FAILED', `the worker has no room for another process (${code})`), retryable: true };
    default:
      return failure('TOOL_ERROR', `${name} could not be started: ${message}`);
  }
};

const missing = (name: string, file: string, path: string | undefined): string =>
  file.includes('/')
    ? `${file} does not exist on the worker, or the interpreter in its first line does not`
    : `${name} was not found in the worker's PATH (${path ?? 'not set'}); install it there, on Debian: apt-get install ${packageOf(name)}`;

const failure = (kind: ToolFailure['kind'], error: string): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});
