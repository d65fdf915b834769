import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@capstan/standalone';
import { migrateDatabase } from '@capstan/store';
import { atEnd } from '../fixtures/at-end.js';
import { tempDir } from '../fixtures/temp-dir.js';

export interface DurablePostgres {
  readonly url: string;
  /** SIGQUIT, an immediate stop: no shutdown, no checkpoint. Then it starts again and recovers. */
  crash(): Promise<void>;
}

/** A migrated Postgres of the test's own, whose commits are on disk, as where Capstan is deployed. */
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
