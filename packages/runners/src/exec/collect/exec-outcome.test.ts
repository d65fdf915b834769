import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { createExecRunner } from '../create-exec-runner.js';
import { callOf, onEachLevel, SECRET } from '../testing/on-each-level.js';

onEachLevel((exec) => {
  const { level, run, sh } = exec;

  describe('a failure', () => {
    test('a nonzero exit code is a failure that keeps the output and quotes the last line of stderr', async () => {
      expect(await sh('echo out; echo first >&2; printf "\\033[31mfatal: no\\033[0m\\n\\n" >&2; exit 3')).toEqual({
        success: false,
        error: 'sh exited with 3: fatal: no',
        kind: 'TOOL_ERROR',
        retryable: true,
        payload: { stdout: 'out\n', stderr: 'first\n\u001b[31mfatal: no\u001b[0m\n\n', exit_code: 3 },
        exit_code: 3,
        truncated: false,
        facts: { sandbox: expect.stringMatching(`^${level}\\+seccomp`), observed: expect.any(Object) },
      });
      expect(await run(['false'])).toMatchObject({ error: 'false exited with 1' });
    });

    test('the summary of a crash is its message, not the end of the stack trace', async () => {
      const crash =
        'TypeError: x is not a function\\n    at main (a.js:1:2)\\n    at node:internal/main:3:4\\n\\nNode.js v20.20.2';
      expect(await sh(`printf "${crash}\\n" >&2; exit 1`)).toMatchObject({
        error: 'sh exited with 1: TypeError: x is not a function',
      });
      expect(await sh('echo "one of two" >&2; echo "gave up" >&2; exit 1')).toMatchObject({
        error: 'sh exited with 1: gave up',
      });
    });

    test('a signal is a failure with the exit code that a shell would report', async () => {
      expect(await sh('echo out; kill -SEGV $$')).toMatchObject({
        success: false,
        error: expect.stringMatching(/^sh was killed by SIGSEGV/),
        retryable: true,
        exit_code: 139,
        payload: { stdout: 'out\n', exit_code: 139 },
      });
    });

    test('a missing executable is reported with what to install', async () => {
      expect(await run(['rg-that-is-not-there', 'x'])).toEqual({
        success: false,
        kind: 'EXECUTABLE_NOT_FOUND',
        retryable: false,
        error:
          'rg-that-is-not-there was not found on the worker; install it there, on Debian: apt-get install rg-that-is-not-there',
      });
      const bare = createExecRunner({ work_dir: exec.work_dir, env: { PATH: '/nowhere' }, sandbox_levels: [level] });
      expect(await bare.run(callOf({ cmd: ['rg'] }))).toMatchObject({
        error: expect.stringContaining('install ripgrep'),
      });
      await bare.close?.();
      expect(await run(['./nothing'])).toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND', retryable: false });
    });

    test('a file that is not executable is reported as such', async () => {
      expect(await run(['/etc/passwd'])).toMatchObject({
        kind: 'TOOL_ERROR',
        retryable: false,
        error: expect.stringContaining('EACCES'),
      });
    });

    test('arguments that are too long are reported as such', async () => {
      expect(await run(['echo', 'x'.repeat(5_000_000)])).toMatchObject({
        kind: 'INVALID_INPUTS',
        retryable: false,
        error: 'the arguments of echo are longer than the system takes; pass them by stdin',
      });
    });

    test.each<[what: string, inputs: JsonObject]>([
      ['a NUL byte in an argument', { cmd: ['echo', 'a\0b'] }],
      ['a NUL byte in the executable', { cmd: ['ec\0ho'] }],
      ['no cmd', {}],
      ['an empty cmd', { cmd: [] }],
      ['an empty executable', { cmd: [''] }],
      ['a command line as one string', { cmd: 'echo hello' }],
      ['an argument that is no string', { cmd: ['echo', 1] }],
      ['stdin that is no string', { cmd: ['cat'], stdin: 1 }],
      ['an unknown input', { cmd: ['env'], cwd: '/' }],
      ['a variable that is no secret', { cmd: ['env'], env: { TOKEN: 'x' } }],
      ['a variable that gives orders', { cmd: ['env'], env: { LD_PRELOAD: 'secret://x' } }],
      ['a secret in the command line', { cmd: ['echo', 'secret://x'] }],
      ['a tty that is neither true nor false', { cmd: ['env'], tty: 1 }],
    ])('%s is refused, not thrown', async (_, inputs) => {
      expect(await exec.runner.run(callOf(inputs))).toMatchObject({
        success: false,
        kind: 'INVALID_INPUTS',
        retryable: false,
      });
    });

    test('a tool of another runner is unknown', async () => {
      const call = callOf({ cmd: ['true'] });
      const outcome = await exec.runner.run({ ...call, descriptor: { ...call.descriptor, tool_id: 'shell.other' } });
      expect(outcome).toMatchObject({ success: false, kind: 'UNKNOWN_TOOL', retryable: false });
    });

    test('a secret in the command line is not quoted in the error', async () => {
      const outcome = await run([`/nowhere/${SECRET}`]);
      expect(JSON.stringify(outcome)).not.toContain(SECRET);
      expect(outcome).toMatchObject({ kind: 'EXECUTABLE_NOT_FOUND', error: expect.stringContaining('[REDACTED]') });
    });
  });
});
