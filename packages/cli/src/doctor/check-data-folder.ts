import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Io } from '../io.js';
import type { Check } from './check.js';

export const checkDataFolder = (env: Io['env'], cwd: string): Check => {
  const folder = resolve(cwd, env.CAPSTAN_DATA_DIR || '.capstan');
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const advice = 'Make it writable, or set CAPSTAN_DATA_DIR to another folder.';
  try {
    accessSync(existing, constants.W_OK);
    return { name: 'data folder', state: 'ok', found: folder };
  } catch {
    return { name: 'data folder', state: 'missing', found: `${existing} is not writable`, advice };
  }
};
