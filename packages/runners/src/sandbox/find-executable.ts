import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** Where the sandbox's own tools are looked for; never on a PATH that somebody else may have set. */
const SYSTEM_PATH = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

export const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
};

export const findExecutable = (name: string, directories: readonly string[] = SYSTEM_PATH): string | null =>
  directories.map((directory) => join(directory, name)).find(isExecutable) ?? null;
