import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_NAMES = 100;
const MAX_LOOKED_AT = 2000;

/**
 * The files that a run left in its directory, up to a limit. `since`: the start of the run, if the directory already had files of other
 * runs. It is compared with the ctime, which no tool can set.
 */
export const filesWritten = async (
  directory: string,
  given: ReadonlySet<string>,
  since: number | null,
): Promise<string[]> => {
  const names: string[] = [];
  const waiting = [''];
  for (let looked = 0; looked < MAX_LOOKED_AT && names.length < MAX_NAMES; ) {
    const folder = waiting.shift();
    if (folder === undefined) break;
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true }).catch(() => [])) {
      looked += 1;
      const name = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(name);
      else if (given.has(name) || names.length === MAX_NAMES) continue;
      else if (since === null || (await changedAt(join(directory, name))) >= since) names.push(name);
    }
  }
  return names.sort();
};

const changedAt = async (file: string): Promise<number> => (await lstat(file).catch(() => null))?.ctimeMs ?? 0;
