import { readFile, readlink, realpath } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { processIsAlive } from './process-is-alive.js';

export const LOCK_FILE = 'postmaster.pid';

/** The setting in which a postmaster carries the pid of the process that started it. */
export const OWNER_SETTING = 'capstan.owner';

/** What a postmaster says of itself in the lock file of its data folder. */
export async function readLockFile(data_dir: string): Promise<{ pid: number; ready: boolean } | undefined> {
  const text = await readFile(join(data_dir, LOCK_FILE), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, ready: lines[7]?.trim() === 'ready' };
}

/** Who started the postmaster: it writes its command line to a file once it holds the lock. */
export async function readOwner(data_dir: string): Promise<number | undefined> {
  const options = await readFile(join(data_dir, 'postmaster.opts'), 'utf8').catch(() => '');
  const pid = options.match(new RegExp(`${OWNER_SETTING.replace('.', '\\.')}=(\\d+)`))?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Whether that process is a postmaster on that folder, and not another one that was given its pid since. */
export async function isPostmasterOf(data_dir: string, pid: number): Promise<boolean> {
  if (!processIsAlive(pid)) return false;
  if (platform() !== 'linux')
    return (await execa({ reject: false })`ps -o comm= -p ${pid}`).stdout.includes('postgres');
  try {
    // A postmaster works in its data folder; a zombie has no working folder any more.
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(data_dir));
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES';
  }
}
