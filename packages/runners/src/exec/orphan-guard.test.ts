import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createOrphanGuard } from './orphan-guard.js';

let work_dir: string;
const started: ReturnType<typeof sleeper>[] = [];

beforeEach(async () => {
  work_dir = await mkdtemp(join(tmpdir(), 'orphan guard-'));
});
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  await rm(work_dir, { recursive: true, force: true });
});

const sleeper = () => execa('sleep', ['60'], { detached: true, reject: false });

/** A process with a directory, as a run has them. */
const startRun = async (name: string) => {
  const child = sleeper();
  started.push(child);
  const directory = join(work_dir, name);
  await mkdir(join(directory, 'inside'), { recursive: true });
  return { child, directory, pid: child.pid ?? 0 };
};

const guardPids = async (): Promise<number[]> => {
  const pids = (await readdir('/proc')).map(Number).filter(Boolean);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return line.includes(`capstan-orphan-guard\0${work_dir}\0`) ? [pid] : [];
    }),
  );
  return found.flat();
};

test('what still runs at the end is killed, and its directory removed', async () => {
  const guard = createOrphanGuard(work_dir);
  const { child, directory, pid } = await startRun('run-a');
  guard.watch(pid, directory);
  await guard.close();
  expect(await child).toMatchObject({ signal: 'SIGKILL' });
  expect(await readdir(work_dir)).toEqual([]);
  expect(await guardPids()).toEqual([]);
});

test('what was released is left alone', async () => {
  const guard = createOrphanGuard(work_dir);
  const kept = await startRun('run-a');
  const lost = await startRun('run-b');
  guard.watch(kept.pid, kept.directory);
  guard.watch(lost.pid, lost.directory);
  guard.release(kept.pid);
  await guard.close();
  await lost.child;
  expect(kept.child.exitCode ?? kept.child.signalCode).toBeNull();
  expect(await readdir(work_dir)).toEqual(['run-a']);
});

test('a guard that is gone is replaced by one that knows all that runs', async () => {
  const guard = createOrphanGuard(work_dir);
  const first = await startRun('run-a');
  guard.watch(first.pid, first.directory);
  const [pid = 0] = await guardPids();
  process.kill(pid, 'SIGKILL');

  const second = await startRun('run-b');
  await vi.waitFor(async () => {
    guard.watch(second.pid, second.directory);
    expect(await guardPids()).not.toEqual([]);
    expect(await guardPids()).not.toContain(pid);
  }, 10_000);
  await guard.close();
  expect(await Promise.all([first.child, second.child])).toMatchObject([{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }]);
});

test('a guard that was never needed is no process', async () => {
  const guard = createOrphanGuard(work_dir);
  expect(await guardPids()).toEqual([]);
  await guard.close();
});
