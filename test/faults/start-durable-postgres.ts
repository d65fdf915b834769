import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@capstan/standalone';
import { migrateDatabase } from '@capstan/store';
import { atEnd } from '../fixtures/at-end.js';
import { tempDir } from '../fixtures/temp-dir.js';

export interface DurablePostgres {
  readonly url: string;
  /** Stops it immediately by SIGQUIT, without a shutdown or a checkpoint, and starts it again, so that it recovers. */
  crash(): Promise<void>;
}

/** A migrated Postgres for one test, whose commits are on disk, as in production. */
export async function startDurablePostgres(): Promise<DurablePostgres> {
  const folder = await tempDir();
  await chmod(folder, 0o711); // for root, who runs Postgres as another user
  const data_dir = join(folder, 'postgres');
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres({ data_dir });
  atEnd(() => postgres.stop());
  const { url, port } = postgres;
  await migrateDatabase(url);
  return {
    url,
    async crash() {
      process.kill(postgres.pid, 'SIGQUIT');
      await postgres.exited;
      postgres = await startEmbeddedPostgres({ data_dir, port });
    },
  };
}
