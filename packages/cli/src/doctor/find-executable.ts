import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Io } from '../io.js';

/** The first of these names that is on the PATH. */
export const findExecutable = (names: readonly string[], env: Io['env']): string | null => {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const name of names) {
    const path = folders.map((folder) => join(folder, name)).find(isExecutable);
    if (path !== undefined) return path;
  }
  return null;
};

export const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
