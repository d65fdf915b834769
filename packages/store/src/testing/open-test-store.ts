import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import { migrate } from '../migrate.js';
import { openStore, type Store } from '../open-store.js';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres_url: string;
  }
}

/** A store on a fresh database of this test file's own, dropped at its end. Migrated unless told otherwise. */
export async function openTestStore({ migrated = true }: { migrated?: boolean } = {}): Promise<Store> {
  const server = inject('postgres_url');
  const name = `store_${randomBytes(8).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  const store = openStore({ url: withDatabase(server, name), name });
  afterAll(async () => {
    await store.close();
    await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  if (migrated) await migrate(store);
  return store;
}

async function onServer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(server, 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
