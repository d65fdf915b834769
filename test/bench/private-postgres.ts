import { join } from 'node:path';
import { startEmbeddedPostgres } from '@capstan/standalone';
import pg from 'pg';
import type { Cleanup } from './cleanup.js';

export interface PrivatePostgres {
  /** Creates an empty database and answers its URL. */
  createDatabase(name: string): Promise<string>;
}

/** The Postgres that standalone embeds, durable as it is there: what Capstan writes is on disk before it answers. */
export async function startPrivatePostgres({
  directory,
  cleanup,
}: {
  directory: string;
  cleanup: Cleanup;
}): Promise<PrivatePostgres> {
  const postgres = await startEmbeddedPostgres({ data_dir: join(directory, 'postgres-data') });
  await cleanup.defer(() => postgres.stop());
  return {
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      try {
        await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
      } finally {
        await client.end();
      }
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}
