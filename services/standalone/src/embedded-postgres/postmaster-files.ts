import { readFile, readlink, realpath } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { processIsAlive } from './process-is-alive.js';

export const LOCK_FILE = 'postmaster.pid';

/** The setting that holds the pid of the process that started the postmaster. */
export const OWNER_SETTING = 'capstan.owner';

/** Reads the state of a postmaster from the lock file in its data folder. */
export async function readLockFile(data_dir: string): Promise<{ pid: number; ready: boolean } | undefined> {
  const text = await readFile(join(data_dir, LOCK_FILE), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, ready: lines[7]?.trim() === 'ready' };
}

/** The pid of the process that started the postmaster, which writes its command line to a file once it holds the lock. */
export async function readOwner(data_dir: string): Promise<number | undefined> {
  const options = await readFile(join(data_dir, 'postmaster.opts'), 'utf8').catch(() => '');
  const pid = options.match(new RegExp(`${OWNER_SETTING.replace('.', '\\.')}=(\\d+)`))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** True if the process is a postmaster on that folder, and not another process that got the same pid later. */
export async function isPostmasterOf(data_dir: string, pid: number): Promise<boolean> {
  if (!processIsAlive(pid)) return false;
  if (platform() !== 'linux')
    return (await execa({ reject: false })`ps -o comm= -p ${pid}`).stdout.includes('postgres');
  try {
    // The working directory of a postmaster is its data folder; a zombie has none.
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(data_dir));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}
