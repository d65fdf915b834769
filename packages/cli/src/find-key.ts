import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Io } from './io.js';

export type FoundKey = { key: string; origin: string };

/** `capstan up` writes its first key here; a command run anywhere below that folder finds it. */
export const findKey = (env: Io['env'], cwd: string): FoundKey | null => {
  if (env.CAPSTAN_API_KEY !== undefined && env.CAPSTAN_API_KEY !== '') {
    return { key: env.CAPSTAN_API_KEY, origin: 'CAPSTAN_API_KEY' };
  }
  for (const path of keyFiles(env, cwd)) {
    const key = readKey(path);
    if (key !== null) return { key, origin: path };
  }
  return null;
};

const keyFiles = (env: Io['env'], cwd: string): string[] => {
  if (env.CAPSTAN_DATA_DIR !== undefined && env.CAPSTAN_DATA_DIR !== '')
    return [join(env.CAPSTAN_DATA_DIR, 'admin.key')];
  const files: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    files.push(join(folder, '.capstan', 'admin.key'));
    if (dirname(folder) === folder) return files;
  }
};

const readKey = (path: string): string | null => {
  try {
    const key = readFileSync(path, 'utf8').trim();
    return key === '' ? null : key;
  } catch {
    return null;
  }
};
