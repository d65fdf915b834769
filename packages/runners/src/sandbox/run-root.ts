import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '@capstan/contracts';

/** Others may pass through, to what they know the name of; only the worker may look around. */
const PASS_THROUGH = 0o711;

/**
 * Where the directories of runs are. A worker that is root starts tools as a user without rights, who must be able to
 * reach them; below a directory that is closed to others (/root, say) nobody can, and then they are made in the system's
 * temporary directory instead.
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

/** Always the same for the same work directory, so that sessions find their files again. */
const openElsewhere = async (root: string): Promise<string> => {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  const directory = join(await realpath(tmpdir()), `capstan-work-${name}`);
  await mkdir(directory, { recursive: true, mode: PASS_THROUGH });
  const found = await lstat(directory);
  // Anybody may make a directory there; only one of our own is used.
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o022) !== 0)
    throw new Failure('RUNNER_FAILED', {
      detail: `${directory} belongs to somebody else; set CAPSTAN_WORK_DIR to a directory that others may pass through`,
      retryable: false,
    });
  return directory;
};
