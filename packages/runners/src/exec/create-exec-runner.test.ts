import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogStream } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { createExecRunner } from './create-exec-runner.js';
import { callOf, onEachLevel, PATH, stdoutOf } from './testing/on-each-level.js';

onEachLevel((exec) => {
  const { level, run, sh, leftovers } = exec;
  const runner = () => exec.runner;

  describe('a command', () => {
    test('returns its output and its exit code', async () => {
      expect(await sh('echo out; echo err >&2')).toEqual({
        success: true,
        payload: { stdout: 'out\n', stderr: 'err\n', exit_code: 0 },
        exit_code: 0,
        truncated: false,
        facts: { sandbox: expect.stringMatching(`^${level}\\+seccomp`), observed: expect.any(Object) },
      });
    });

    test('gets its arguments unchanged, without a shell', async () => {
      const args = ['$HOME', '`id`', '; echo no', '*', '', 'a b', '"', "'", '\\', 'ü\n'];
      expect(await run(['printf', '[%s]', ...args])).toMatchObject({
        payload: { stdout: args.map((arg) => `[${arg}]`).join('') },
      });
    });

    test('logs live, by stream, exactly the output of the result', async () => {
      const logged: Record<LogStream, string> = { stdout: '', stderr: '' };
      const outcome = await sh('for i in 1 2 3; do echo out $i; echo err $i >&2; done', {
        log: (stream, text) => {
          logged[stream] += text;
        },
      });
      expect(outcome).toMatchObject({ payload: logged });
      expect(logged.stdout).toBe('out 1\nout 2\nout 3\n');
    });

    test.each([false, true])('does not start if its call was lost right before (in a terminal: %s)', async (tty) => {
      const lost = new AbortController();
      const logged: string[] = [];
      const outcome = runner().run(
        callOf(
          { cmd: ['echo', 'started'], tty },
          { signal: lost.signal, beforeEffect: () => lost.abort(), log: (_stream, text) => logged.push(text) },
        ),
      );
      await Promise.allSettled([outcome]);
      expect(lost.signal.aborted).toBe(true);
      expect(logged).toEqual([]);
    });

    test('is logged while it is still running', async () => {
      const controller = new AbortController();
      const outcome = await sh('printf "no newline"; exec sleep 60', {
        signal: controller.signal,
        log: () => controller.abort(),
      });
      expect(outcome).toMatchObject({ payload: { stdout: 'no newline' } });
    });

    test('sees the granted variables, and none of the worker', async () => {
      const outcome = await run(['env']);
      const names = stdoutOf(outcome)
        .trim()
        .split('\n')
        .map((line) => line.split('=')[0]);
      const known = [
        'PATH',
        'HOME',
        'USER',
        'LANG',
        'LC_ALL',
        'TMPDIR',
        'CAPSTAN_ARTIFACTS',
        'CAPSTAN_RUN',
        'PWD',
        'GIT_CONFIG_NOSYSTEM',
      ];
      expect(names.filter((each) => !known.includes(each ?? ''))).toEqual([]);
      expect(stdoutOf(outcome)).toContain(`PATH=${PATH}\n`);
      expect(stdoutOf(outcome)).not.toContain('/nowhere');
    });

    test('runs in a fresh directory, which is removed afterwards', async () => {
      const outcome = await sh('pwd; ls -A; touch file; mkdir -p a/b; chmod 500 a');
      expect(stdoutOf(outcome)).toMatch(/^\/.*\/run-\d+\nartifacts\n$/);
      expect(outcome).toMatchObject({ facts: { observed: { files_written: ['file'] } } });
      expect(await leftovers()).toEqual([]);
    });

    test('leaves no directory behind even if its paths are too long for system calls', async () => {
      const outcome = await sh('d=$(printf %0200d 0); for i in $(seq 40); do mkdir $d && cd -P $d || exit 1; done');
      expect(outcome).toMatchObject({ success: true });
      expect(await leftovers()).toEqual([]);
    });

    test('runs beside others without mixing their output', async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => run(['echo', `run ${index}`])));
      expect(outcomes).toEqual(
        outcomes.map((_, index) =>
          expect.objectContaining({ payload: { stdout: `run ${index}\n`, stderr: '', exit_code: 0 } }),
        ),
      );
    });

    test('creates the work directory if there is none', async () => {
      const fresh = createExecRunner({ work_dir: join(exec.work_dir, 'not', 'yet'), sandbox_levels: [level] });
      expect(await fresh.run(callOf({ cmd: ['true'] }))).toMatchObject({ success: true });
      await fresh.close?.();
      await rm(join(exec.work_dir, 'not'), { recursive: true });
    });
  });

  describe('stdin', () => {
    test('is passed to the command', async () => {
      const stdin = 'ü'.repeat(200_000);
      expect(await run(['cat'], { stdin })).toMatchObject({ payload: { stdout: stdin } });
      expect(await run(['cat'], { stdin: '' })).toMatchObject({ payload: { stdout: '' } });
    });

    test('is empty by default', async () => {
      expect(await run(['cat'])).toMatchObject({ success: true, payload: { stdout: '' } });
    });

    test('need not be read', async () => {
      const stdin = 'x'.repeat(5_000_000);
      expect(await run(['true'], { stdin })).toMatchObject({ success: true });
      expect(await run(['head', '-c', '3'], { stdin })).toMatchObject({ success: true, payload: { stdout: 'xxx' } });
      expect(await sh('exec 0<&-; echo on', { stdin })).toMatchObject({ success: true, payload: { stdout: 'on\n' } });
    });
  });
});
