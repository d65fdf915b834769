import pg from 'pg';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { passwordFile } from './superuser-password.js';

/** Connects to the database, and creates it if it does not exist. */
export async function ensureDatabase(url: string, data_dir: string): Promise<void> {
  const problem = await tryLogin(url);
  if (problem === undefined) return;
  if (problem === '28P01') {
    throw new EmbeddedPostgresError(
      `The password in ${passwordFile(data_dir)} is not that of the database in ${data_dir}.`,
      {
        suggestion: `Put the right file back, or move ${data_dir} away to start with an empty database.`,
      },
    );
  }
  if (problem !== '3D000') throw problem;
  await createDatabase(url);
}

async function tryLogin(connectionString: string): Promise<unknown> {
  const client = new pg.Client({ connectionString });
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    return error instanceof pg.DatabaseError && (error.code === '28P01' || error.code === '3D000') ? error.code : error;
  } finally {
    await client.end();
  }
}

async function createDatabase(url: string): Promise<void> {
  const maintenance = new URL(url);
  const name = maintenance.pathname.slice(1);
  maintenance.pathname = '/postgres';
  const client = new pg.Client({ connectionString: maintenance.href });
  try {
    await client.connect();
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}
