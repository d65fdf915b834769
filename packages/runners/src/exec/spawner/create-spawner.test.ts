import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { processesWith } from '../../testing/processes-with.js';
import { createSpawner, type Spawner } from './create-spawner.js';

let spawner: Spawner;
beforeEach(() => {
  spawner = createSpawner();
});
afterEach(() => spawner.close());

const start = (file: string, args: string[], stdin?: string) => {
  let said = '';
  let pid = 0;
  const launch = { file, args, env: {}, cwd: '/' };
  const run = spawner.run(
    { launch, stdin, level: 'process' },
    {
      stdout: (chunk) => {
        said += Buffer.from(chunk).toString();
      },
      stderr: () => {},
      started: (its_pid) => {
        pid = its_pid;
      },
    },
  );
  return { ...run, said: () => said, pid: () => pid };
};

/** The parent of what it started. */
const spawnerOf = async (pid: number): Promise<number> =>
  Number((await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')[1]);

test('runs a command, and tells its output and its end', async () => {
  const run = start('/bin/cat', [], 'ü'.repeat(300_000));
  expect(await run.ended).toEqual({ kind: 'exited', exit_code: 0 });
  expect(run.said()).toBe('ü'.repeat(300_000));
  expect(await start('/bin/sh', ['-c', 'kill -KILL $$']).ended).toEqual({ kind: 'killed', signal: 'SIGKILL' });
  expect(await start('/nowhere/at/all', []).ended).toMatchObject({ kind: 'not_started', code: 'ENOENT' });
  expect(await start('/bin/echo', ['x'.repeat(5_000_000)]).ended).toMatchObject({ code: 'E2BIG' });
});

test('says that it does not know when it is killed, leaves the next to another, and that works', async () => {
  const run = start('/bin/sleep', ['63.5']);
  await vi.waitFor(() => expect(run.pid()).toBeGreaterThan(1), 5000);
  process.kill(await spawnerOf(run.pid()), 'SIGKILL');
  expect(await run.ended).toMatchObject({ kind: 'not_started', code: 'LOST' });
  process.kill(run.pid(), 'SIGKILL');
  expect(await start('/bin/true', []).ended).toEqual({ kind: 'exited', exit_code: 0 });
});

test('has nothing of the worker in its environment', async () => {
  process.env.SPAWNER_TEST_CANARY = 'canary';
  const run = start('/bin/sleep', ['64.5']);
  await vi.waitFor(() => expect(run.pid()).toBeGreaterThan(1), 5000);
  const environ = await readFile(`/proc/${await spawnerOf(run.pid())}/environ`, 'utf8');
  expect(environ.includes('canary')).toBe(false);
  run.stop('kill');
  await run.ended;
});

test('takes what runs with it when it is closed', async () => {
  const mark = `65.${process.pid}`;
  const run = start('/bin/sleep', [mark]);
  await vi.waitFor(() => expect(run.pid()).toBeGreaterThan(1), 5000);
  await spawner.close();
  await vi.waitFor(async () => expect(await processesWith(mark)).toEqual([]), 5000);
});
