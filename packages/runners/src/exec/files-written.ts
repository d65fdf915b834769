import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const MAX_NAMES = 100;
const MAX_LOOKED_AT = 2000;

/**
 * What a run left in its directory, as far as it is worth telling. `since`: when it began, where files of others were there
 * before it; nobody can set the time of a change.
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
