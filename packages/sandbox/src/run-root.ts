import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '@capstan/contracts';

/** Others may enter paths that they know the name of. Only the worker may list the directory. */
const PASS_THROUGH = 0o711;

/**
 * The parent of the directories of runs. A worker running as root starts tools as an unprivileged user, who must be able to
 * reach them. If the work directory is below one that is closed to others, such as /root, the system's temporary directory is
 * used instead.
 */
export const openRunRoot = async (work_dir: string, is_root: boolean): Promise<string> => {
  const wanted = resolve(work_dir);
  await mkdir(wanted, { recursive: true, mode: is_root ? PASS_THROUGH : 0o700 });
  const root = await realpath(wanted);
  if (!is_root) return root;
  await chmod(root, PASS_THROUGH);
  return (await isReachable(root)) ? root : openElsewhere(root);
};

const isReachable = async (directory: string): Promise<boolean> => {
  const { mode } = await stat(directory);
  if ((mode & 0o001) === 0) return false;
  return dirname(directory) === directory || isReachable(dirname(directory));
};

/** The name depends only on the work directory, so that sessions find their files again. */
const openElsewhere = async (root: string): Promise<string> => {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const directory = join(await realpath(tmpdir()), `capstan-work-${name}`);
  await mkdir(directory, { recursive: true, mode: PASS_THROUGH });
  const found = await lstat(directory);
  // Anybody can create a directory there, so use it only if root owns it and nobody else can write to it.
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0)
    throw new Failure('RUNNER_FAILED', {
      detail: `${directory} belongs to another user; set CAPSTAN_WORK_DIR to a directory that others may pass through`,
      retryable: false,
    });
  return directory;
};
