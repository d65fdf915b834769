import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@capstan/standalone';
import pg from 'pg';
import { atEnd } from '../fixtures/at-end.js';
import { databaseUrl } from '../fixtures/on-server.js';
import { tempDir } from '../fixtures/temp-dir.js';
import type { Metered } from './meter.js';

export interface BenchPostgres {
  readonly process: Metered;
  /** Creates an empty database and answers its URL. */
  createDatabase(name: string): Promise<string>;
  /** Bytes of WAL written so far. */
  walPosition(): Promise<bigint>;
  /** Counts the statements on a database while `act` is running. */
  countStatements(database_url: string, act: () => Promise<unknown>): Promise<number>;
  /** Bytes of tables, each with its indexes. */
  sizesOf(database_url: string, tables: readonly string[]): Promise<Record<string, number>>;
  vacuum(database_url: string, tables: readonly string[]): Promise<void>;
  /** A transaction that keeps Postgres from cleaning up, until it is ended. */
  holdSnapshot(database_url: string): Promise<() => Promise<void>>;
}

/** The Postgres that standalone embeds, with the same durability: writes are on disk before they are confirmed. */
export async function startBenchPostgres(): Promise<BenchPostgres> {
  const data_dir = join(await tempDir(), 'postgres');
  const server = await startEmbeddedPostgres({
    data_dir,
    settings: { max_connections: '200', log_line_prefix: '<%d> ' },
  });
  atEnd(() => server.stop());
  const admin = await connect(server.url);
  const logStatements = async (on: boolean) => {
    await admin.query(`ALTER SYSTEM SET log_statement = '${on ? 'all' : 'none'}'`);
    await admin.query('SELECT pg_reload_conf()');
  };
  return {
    process: { name: 'Postgres', pid: server.pid, tree: true },
    async createDatabase(name) {
      await admin.query(`CREATE DATABASE ${admin.escapeIdentifier(name)}`);
      return databaseUrl(server.url, name);
    },
    async walPosition() {
      const { rows } = await admin.query<{ bytes: string }>(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
      return BigInt(rows[0]?.bytes ?? 0);
    },
    async countStatements(database_url, act) {
      const mark = new RegExp(`^<${new URL(database_url).pathname.slice(1)}> LOG:  (statement|execute )`, 'gm');
      const count = async () => ((await readFile(`${data_dir}.log`, 'utf8')).match(mark) ?? []).length;
      await logStatements(true);
      try {
        const before = await count();
        await act();
        return (await count()) - before;
      } finally {
        await logStatements(false);
      }
    },
    async sizesOf(database_url, tables) {
      const client = await connect(database_url);
      const { rows } = await client.query<{ name: string; bytes: string }>(
        'SELECT name, pg_total_relation_size(name::regclass) AS bytes FROM unnest($1::text[]) AS name',
        [tables],
      );
      await client.end();
      return Object.fromEntries(rows.map(({ name, bytes }) => [name, Number(bytes)]));
    },
    async vacuum(database_url, tables) {
      const client = await connect(database_url);
      await client.query(`VACUUM ${tables.join(', ')}`);
      await client.end();
    },
    async holdSnapshot(database_url) {
      const client = await connect(database_url);
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SELECT count(*) FROM pg_class');
      return () => client.end();
    },
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  atEnd(() => client.end().catch(() => undefined));
  return client;
}
