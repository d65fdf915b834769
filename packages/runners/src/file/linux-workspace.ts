import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, unlink, writeFile } from 'node:fs/promises';
import { codeOf, descend, LINK, type Place } from './descend.js';
import { NotAFile } from './path-refused.js';
import type { Admit, Workspace, WrittenFile } from './workspace.js';

/** Non-blocking, because opening a pipe without a writer would wait forever. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** `root` is absolute and contains no links. */
export const linuxWorkspace = (root: string): Workspace => ({
  open: (path, admit) =>
    descend(root, path, {
      makeFolders: false,
      admit,
      use: async (place) => {
        const handle = await open(place.at, READ).catch((error: unknown) => {
          if (codeOf(error) !== 'ELOOP') throw error;
        });
        if (!handle) return LINK;
        try {
          admit(place.real);
          return { handle, real: place.real };
        } catch (error) {
          await handle.close();
          throw error;
        }
      },
    }),
  write: (path, content, admit) =>
    descend(root, path, { makeFolders: true, admit, use: (place) => replace(place, content, admit) }),
});

/**
 * Writes to a random name in the same folder, then renames it. If a link appears under the final name meanwhile, it is replaced instead of followed.
 */
async function replace(place: Place, content: Uint8Array, admit: Admit): Promise<WrittenFile | typeof LINK> {
  const before = await lstat(place.at).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (before?.isSymbolicLink()) return LINK;
  admit(place.real);
  if (before && !before.isFile()) throw new NotAFile(`${place.real} is not a file`);
  const beside = `${place.at.slice(0, place.at.lastIndexOf('/'))}/.capstan-${randomBytes(12).toString('hex')}`;
  try {
    await writeFile(beside, content, {
      flag: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      mode: before ? before.mode & 0o777 : 0o644,
    });
    await rename(beside, place.at);
  } catch (error) {
    await unlink(beside).catch(() => {});
    throw error;
  }
  return { real: place.real, created: before === null };
}
