import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where the sandbox's own tools are looked for; never on a PATH that somebody else may have set. */
const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

export const isExecutable = (file: string): boolean => {
  try {
    // Asked first, because it says no without an exception: most directories of a PATH do not have it.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const findExecutable = (name: string, directories: readonly string[] = SYSTEM_PATH): string | null =>
  directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
