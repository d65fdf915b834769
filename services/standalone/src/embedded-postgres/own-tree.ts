import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Gives a folder and all in it to one user. Every entry is looked at, each time: a walk cut short by a kill leaves
 * two owners, and a look costs some tens of milliseconds for the thousand files of a small database.
 */
export async function ownTree(path: string, owner: { uid: number; gid: number }): Promise<void> {
  const entry = await lstat(path);
  if (entry.isDirectory()) {
    for (const name of await readdir(path)) await ownTree(join(path, name), owner);
  }
  if (entry.uid !== owner.uid || entry.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
}
