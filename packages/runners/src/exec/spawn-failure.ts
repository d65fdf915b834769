import type { ToolFailure } from '../runner.js';
import type { NotFound } from './find-program.js';
import { packageOf } from './package-of.js';
import { refused } from './refused.js';

/** A program that is not there, before anything was started. */
export const missingProgram = (file: string, why: NotFound, path: readonly string[]): ToolFailure => {
  if (why === 'not_executable')
    return refused('TOOL_ERROR', `${file} may not be executed by the worker's user (EACCES); check its permissions`);
  return refused(
    'EXECUTABLE_NOT_FOUND',
    file.includes('/')
      ? `${file} does not exist where this tool runs: its work directory, and the system's programs`
      : `${file} was not found in the worker's PATH (${path.join(':') || 'not set'}); install it there, on Debian: apt-get install ${packageOf(file)}`,
  );
};

/** What a failed start means to whoever asked for it. */
export const spawnFailure = (name: string, code: string, message: string): ToolFailure => {
  switch (code) {
    case 'E2BIG':
      return refused('INVALID_INPUTS', `the arguments of ${name} are longer than the system takes; pass them by stdin`);
    case 'LOST':
      return refused('RUNNER_FAILED', `whether ${name} ran is not known: ${message}`);
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return { ...refused('RUNNER_FAILED', `the worker has no room for another process (${code})`), retryable: true };
    default:
      return refused('TOOL_ERROR', `${name} could not be started: ${message}`);
  }
};
