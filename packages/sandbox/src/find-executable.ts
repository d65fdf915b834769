import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where the sandbox's own tools are looked up. Never a PATH, which somebody else may have set. */
const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

export const isExecutable = (file: string): boolean => {
  try {
    // stat first, because it can say no without an exception: most directories of a PATH do not have the file.
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

export const findExecutable = (name: string, directories: readonly string[] = SYSTEM_PATH): string | null =>
  directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
