import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';

export const passwordFile = (data_dir: string): string => `${data_dir}.password`;

/**
 * The password of the superuser. It is created before the database and never replaced, so that the file always matches
 * the database, even if the process is killed at any moment.
 */
export async function createSuperuserPassword(data_dir: string): Promise<string> {
  const path = passwordFile(data_dir);
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // Unlike a rename, a link does not replace the file of a start that was faster.
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft);
  }
  return readSuperuserPassword(data_dir);
}

export async function readSuperuserPassword(data_dir: string): Promise<string> {
  const path = passwordFile(data_dir);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new EmbeddedPostgresError(`The password of the database in ${data_dir} cannot be read from ${path}.`, {
      suggestion: `Put that file back, or move ${data_dir} away to start with an empty database.`,
      cause,
    });
  }
}
