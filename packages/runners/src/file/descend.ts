import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { NotAFile, PathRefused } from './path-refused.js';
import type { Admit } from './workspace.js';

/** Linux: opens a folder without read permission. Node does not define the constant. */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The limit of Linux itself. */
const MAX_LINKS = 40;

/** The end of a path: an open folder, and a name in it that is not a link. */
export type Place = {
  /** The path of the name relative to the open folder, which stays valid if the folder is moved. */
  at: string;
  /** Relative to the root, without links. */
  real: string;
};

/**
 * Walks down a path name by name, opening each name in its open parent and never through a link: `/proc/self/fd/N/name` works like `openat(N,
 * "name")`. Links are read and resolved by the same steps, so a link that stays inside works and one that leads out is refused. There is no time
 * between check and use in which the path could be changed. `use` gets the last name, opens it without following links, and returns `LINK` if it is
 * one. Missing folders are created if `admit` accepts the file that they are for. Nothing can exist below a missing folder, so there is no link to
 * check.
 */
export async function descend<T>(
  root: string,
  path: string,
  { makeFolders, admit, use }: { makeFolders: boolean; admit: Admit; use(place: Place): Promise<T | typeof LINK> },
): Promise<T> {
  const folders: { handle: FileHandle; name: string }[] = [
    { handle: await open(root, O_PATH | constants.O_DIRECTORY), name: '' },
  ];
  const ahead = namesOf(path);
  let links = 0;
  try {
    for (;;) {
      const name = ahead.shift();
      const here = folders.at(-1);
      if (name === undefined || !here) throw new NotAFile(`${path} is a folder`);
      if (name === '..') {
        if (folders.length === 1) throw escaped(path, links);
        folders.pop();
        await here.handle.close();
        continue;
      }
      const place: Place = {
        at: `/proc/self/fd/${here.handle.fd}/${name}`,
        real: [...folders.slice(1).map((folder) => folder.name), name].join('/'),
      };
      if (ahead.length === 0) {
        const used = await use(place);
        if (used !== LINK) return used;
      } else {
        const handle = await enter(place, makeFolders ? () => admit([place.real, ...ahead].join('/')) : null);
        if (handle) {
          folders.push({ handle, name });
          continue;
        }
      }
      if (++links > MAX_LINKS) throw new PathRefused('symlink_escape', `${path} leads through too many links`);
      const target = await readlink(place.at).catch(unless('EINVAL'));
      if (target === undefined) {
        // It was a link at first, but is not one any more.
        ahead.unshift(name);
        continue;
      }
      if (target.startsWith('/')) {
        const inside = target === root || target.startsWith(`${root}/`);
        if (!inside) throw escaped(path, links);
        for (const { handle } of folders.splice(1)) await handle.close();
      }
      ahead.unshift(...namesOf(target.startsWith('/') ? target.slice(root.length) : target));
    }
  } finally {
    await Promise.all(folders.map(({ handle }) => handle.close()));
  }
}

export const LINK = Symbol('a link');

const namesOf = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.');

const escaped = (path: string, links: number) =>
  links > 0
    ? new PathRefused('symlink_escape', `${path} leads out of the workspace through a link`)
    : new PathRefused('path_escape', `${path} leads out of the workspace`);

/** Opens the folder; null if it is a link. `beforeMaking` is called with the file that a missing folder is created for. */
async function enter(place: Place, beforeMaking: (() => void) | null): Promise<FileHandle | null> {
  try {
    return await open(place.at, FOLDER);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' && beforeMaking) {
      beforeMaking();
      await mkdir(place.at).catch(unless('EEXIST'));
      return enter(place, null);
    }
    if ((code === 'ENOTDIR' || code === 'ELOOP') && (await isLink(place.at))) return null;
    throw error;
  }
}

const isLink = (at: string) =>
  readlink(at).then(
    () => true,
    () => false,
  );

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if (codeOf(error) !== code) throw error;
  };
