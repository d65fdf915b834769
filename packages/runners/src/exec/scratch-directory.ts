import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** A fresh directory that only this user can enter. */
export const makeScratchDirectory = async (work_dir: string): Promise<string> => {
  const prefix = join(work_dir, 'run-');
  try {
    return await mkdtemp(prefix);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await mkdir(work_dir, { recursive: true, mode: 0o700 });
    return mkdtemp(prefix);
  }
};

export const removeScratchDirectory = async (directory: string): Promise<void> => {
  try {
    await rm(directory, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 });
  } catch {
    // A tool may leave directories without write permission, or paths too long for the system calls that take paths.
    // These two go by file descriptors. What even they leave is no reason to fail the run, which is over.
    const quietly = { reject: false, stdio: 'ignore' } as const;
    await execa('chmod', ['-R', 'u+rwx', '--', directory], quietly);
    await execa('rm', ['-rf', '--', directory], quietly);
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
