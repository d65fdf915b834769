import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { NotAFile, PathRefused } from './path-refused.js';
import type { Admit } from './workspace.js';

/** Linux: a handle that names a folder without the right to read it. Node does not list it. */
const O_PATH = 0o10000000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** As many as Linux itself follows. */
const MAX_LINKS = 40;

/** Where a path leads: a folder that is held open, and a name in it that is no link. */
export type Place = {
  /** The name within the open folder itself, wherever that folder may be moved to. */
  at: string;
  /** Relative to the root, without links. */
  real: string;
};

/**
 * Goes down a path name by name, each opened in the folder before it and never through a link: `/proc/self/fd/N/name` is
 * what `openat(N, "name")` is elsewhere. A link is read and gone along by the same steps, so one that stays inside works, and
 * one that leads out is refused, with no moment between check and use for anybody to change it in.
 *
 * `use` gets the last name, tries it without following, and answers `LINK` when a link turned out to be there. Folders that
 * are missing are made where `admit` takes the file that they are for; below a missing folder there is nothing, so no link.
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
        // It was a link a moment ago, and is none now.
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

/** The folder, held open; null when a link is there. `beforeMaking` is asked about the file that it would be made for. */
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
