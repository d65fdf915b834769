import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { codeOf } from './descend.js';
import { PathRefused } from './path-refused.js';
import type { Workspace } from './workspace.js';

/**
 * For systems without /proc. Checks the real path before opening a file and again afterwards, when it must still be inside the root and be the same
 * file. If the second check fails, the file is neither read nor written.
 */
export const checkedWorkspace = (root: string): Workspace => ({
  open: async (path, admit) => {
    beneath(root, path);
    const real = inside(root, path, await realpath(join(root, path)));
    admit(real);
    const handle = await open(join(root, real), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    return { handle: await sameAfter(handle, root, path, real), real };
  },
  write: async (path, content, admit) => {
    const asked = beneath(root, path);
    await makeFolders(root, dirname(relative(root, asked)), () => admit(relative(root, asked).split(sep).join('/')));
    const folder = inside(root, path, await realpath(dirname(asked)));
    const real = inside(root, path, await realpath(asked).catch(() => join(root, folder, basename(asked))));
    admit(real);
    const exists = await stat(join(root, real)).catch(() => null);
    const handle = await open(
      join(root, real),
      constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
      0o644,
    );
    const same = await sameAfter(handle, root, path, real);
    try {
      await same.truncate(0);
      await same.writeFile(content);
    } finally {
      await same.close();
    }
    return { real, created: exists === null };
  },
});

function inside(root: string, path: string, real: string): string {
  if (real !== root && !real.startsWith(root + sep))
    throw new PathRefused('symlink_escape', `${path} leads out of the workspace through a link`);
  return relative(root, real).split(sep).join('/');
}

/** Checks the path as text, before any link is resolved. */
function beneath(root: string, path: string): string {
  const named = resolve(root, path);
  if (named === root || named.startsWith(root + sep)) return named;
  throw new PathRefused('path_escape', `${path} leads out of the workspace`);
}

async function makeFolders(root: string, folder: string, beforeMaking: () => void): Promise<void> {
  let made = '';
  for (const name of folder.split(sep).filter((one) => one !== '' && one !== '.')) {
    made = made === '' ? name : `${made}/${name}`;
    const real = await realpath(join(root, made)).catch(() => null);
    if (real !== null) {
      inside(root, made, real);
      continue;
    }
    beforeMaking();
    await mkdir(join(root, made)).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
}

async function sameAfter(handle: FileHandle, root: string, path: string, real: string): Promise<FileHandle> {
  try {
    const now = await realpath(join(root, real));
    inside(root, path, now);
    const [opened, named] = await Promise.all([handle.stat(), stat(now)]);
    if (opened.ino !== named.ino || opened.dev !== named.dev)
      throw new PathRefused('symlink_escape', `${path} was changed while it was opened`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}
