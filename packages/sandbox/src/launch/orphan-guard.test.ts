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

/** A process with a directory, like a run. */
const startRun = async (name: string) => {
  const child = sleeper();
  started.push(child);
  await mkdir(join(work_dir, name, 'inside'), { recursive: true });
  return { child, pid: child.pid ?? 0 };
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

test('a guard kills the processes that are still running at the end, and removes the directory', async () => {
  const guard = createOrphanGuard(work_dir);
  const { child, pid } = await startRun('run-a');
  guard.watch(pid);
  await guard.close();
  expect(await child).toMatchObject({ signal: 'SIGKILL' });
  await expect(readdir(work_dir)).rejects.toThrow('ENOENT');
  expect(await guardPids()).toEqual([]);
});

test('a guard removes the directory of pipes as well', async () => {
  const pipes = await mkdtemp(join(tmpdir(), 'pipes-'));
  const guard = createOrphanGuard(work_dir, pipes);
  guard.start();
  await guard.close();
  await expect(readdir(pipes)).rejects.toThrow('ENOENT');
  await expect(readdir(work_dir)).rejects.toThrow('ENOENT');
});

test('a guard leaves released processes alone', async () => {
  const guard = createOrphanGuard(work_dir);
  const kept = await startRun('run-a');
  const lost = await startRun('run-b');
  guard.watch(kept.pid);
  guard.watch(lost.pid);
  guard.release(kept.pid);
  await guard.close();
  await lost.child;
  expect(kept.child.exitCode ?? kept.child.signalCode).toBeNull();
});

test('a guard that died is replaced by one that knows all running processes', async () => {
  const guard = createOrphanGuard(work_dir);
  const first = await startRun('run-a');
  guard.watch(first.pid);
  const [pid = 0] = await guardPids();
  expect(pid).toBeGreaterThan(1);
  process.kill(pid, 'SIGKILL');

  const second = await startRun('run-b');
  await vi.waitFor(async () => {
    guard.watch(second.pid);
    expect(await guardPids()).not.toEqual([]);
    expect(await guardPids()).not.toContain(pid);
  }, 30_000);
  await guard.close();
  expect(await Promise.all([first.child, second.child])).toMatchObject([{ signal: 'SIGKILL' }, { signal: 'SIGKILL' }]);
});

test('a guard removes the directory even if nothing was watched', async () => {
  const guard = createOrphanGuard(work_dir);
  guard.start();
  await guard.close();
  await expect(readdir(work_dir)).rejects.toThrow('ENOENT');
});

test('a guard that was never started has no process', async () => {
  const guard = createOrphanGuard(work_dir);
  expect(await guardPids()).toEqual([]);
  await guard.close();
});
