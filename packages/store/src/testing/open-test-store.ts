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

const newName = () => `store_${randomBytes(8).toString('hex')}`;

/** Migrated once for all test files of this process, which get copies of it. */
let template: Promise<string> | undefined;

/** A store on a fresh database of this test file's own, dropped at its end. Migrated unless told otherwise. */
export async function openTestStore({ migrated = true }: { migrated?: boolean } = {}): Promise<Store> {
  const server = inject('postgres_url');
  const name = newName();
  template ??= createTemplate(server);
  const source = migrated ? await template : 'template0';
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY FILE_COPY`);
  const store = openStore({ url: withDatabase(server, name), name });
  afterAll(async () => {
    await store.close();
    await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  return store;
}

async function createTemplate(server: string): Promise<string> {
  const name = newName();
  await onServer(server, `CREATE DATABASE ${name}`);
  const store = openStore({ url: withDatabase(server, name), name });
  await migrate(store);
  await store.close();
  return name;
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
