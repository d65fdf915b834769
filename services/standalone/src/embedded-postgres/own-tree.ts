import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Gives a folder and everything in it to one user. Every entry is checked each time, because a walk that was killed
 * leaves two owners. This costs some tens of milliseconds for the thousand files of a small database.
 */
export async function ownTree(path: string, owner: { uid: number; gid: number }): Promise<void> {
  const entry = await lstat(path);
  if (entry.isDirectory()) {
    for (const name of await readdir(path)) await ownTree(join(path, name), owner);
  }
  if (entry.uid !== owner.uid || entry.gid !== owner.gid) await lchown(path, owner.uid, owner.gid);
}
