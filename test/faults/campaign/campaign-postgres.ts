import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@capstan/standalone';
import pg from 'pg';
import { createTemplateDatabase, TEMPLATE } from '../../fixtures/create-template-database.js';
import { databaseUrl, onServer } from '../../fixtures/on-server.js';
import { quickestPlace } from '../../fixtures/quickest-place.js';

/** The Postgres of a campaign, and the faults that a superuser can cause. */
export interface CampaignPostgres {
  /** A migrated database for one seed, on a small disk if the disk is going to be filled. */
  createDatabase(name: string, options: { on_small_disk: boolean }): Promise<{ url: string; drop(): Promise<void> }>;
  /** Null if a small disk can be mounted here, otherwise the reason why not. */
  readonly no_small_disk: string | null;
  endBackends(database_url: string): Promise<void>;
  setReadOnly(read_only: boolean): Promise<void>;
  /** Returns how to empty it again. */
  fillDisk(): Promise<() => Promise<void>>;
  takeAllConnections(database_url: string): Promise<() => Promise<void>>;
  holdSnapshot(database_url: string): Promise<() => Promise<void>>;
  /** The client port of the next connection that holds an advisory lock, or null if none takes one for some seconds. */
  portOfLockHolder(database_url: string): Promise<number | null>;
  stop(): Promise<void>;
}

const MAX_CONNECTIONS = 120;
const SMALL_DISK = 'capstan_small_disk';
const FAULTS = 'capstan-faults';
const LOCK_WITHIN_MS = 3_000;

export async function startCampaignPostgres(): Promise<CampaignPostgres> {
  const folder = await mkdtemp(join(await quickestPlace(), 'capstan-campaign-'));
  await chmod(folder, 0o711); // for root, who runs Postgres as another user
  const data_dir = join(folder, 'postgres');
  const settings = { max_connections: `${MAX_CONNECTIONS}`, scram_iterations: '1' };
  const server = await startEmbeddedPostgres({ data_dir, durable: false, settings });
  await createTemplateDatabase(server.url);
  const disk = join(folder, 'disk');
  const no_small_disk = await mountSmallDisk(disk, data_dir);
  if (no_small_disk === null)
    await onServer(server.url, `CREATE TABLESPACE ${SMALL_DISK} LOCATION '${join(disk, 'space')}'`);

  // Opened before any fault, because then no connection may be left, and exempt from read-only mode.
  const admin = new pg.Client({
    connectionString: databaseUrl(server.url, 'postgres'),
    application_name: FAULTS,
    options: '-c default_transaction_read_only=off',
  });
  admin.on('error', () => undefined);
  await admin.connect();
  const endBackends = async (database_url: string) => {
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND application_name <> $2`,
      [new URL(database_url).pathname.slice(1), FAULTS],
    );
  };

  return {
    no_small_disk,
    endBackends,
    async createDatabase(name, { on_small_disk }) {
      const place = on_small_disk ? `TABLESPACE ${SMALL_DISK}` : '';
      await admin.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY ${place}`);
      const drop = async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
      return { url: databaseUrl(server.url, name), drop };
    },
    async setReadOnly(read_only) {
      await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${read_only ? 'on' : 'off'}`);
      await admin.query('SELECT pg_reload_conf()');
    },
    async fillDisk() {
      const { bavail, bsize } = await statfs(disk);
      const filler = join(disk, 'filler');
      // Postgres may write meanwhile, so that the filler does not fit. The disk is full all the same.
      await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(unlessFull);
      return () => rm(filler);
    },
    async takeAllConnections(database_url) {
      const taken: pg.Client[] = [];
      const takeAll = async () => {
        for (;;) {
          const client = new pg.Client({ connectionString: database_url, application_name: FAULTS });
          client.on('error', () => undefined);
          const refused = await client.connect().then(
            () => false,
            () => true,
          );
          if (refused) return;
          taken.push(client);
        }
      };
      await takeAll();
      await endBackends(database_url);
      await takeAll();
      return async () => {
        await Promise.all(taken.map((client) => client.end()));
      };
    },
    async holdSnapshot(database_url) {
      const client = new pg.Client({ connectionString: database_url, application_name: FAULTS });
      client.on('error', () => undefined);
      await client.connect();
      // The role may have a timeout for idle transactions, which must not end this one.
      await client.query('SET idle_in_transaction_session_timeout = 0');
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SELECT count(*) FROM pg_class');
      return () => client.end();
    },
    async portOfLockHolder(database_url) {
      const database = new URL(database_url).pathname.slice(1);
      const deadline = performance.now() + LOCK_WITHIN_MS;
      while (performance.now() < deadline) {
        const { rows } = await admin.query<{ client_port: number }>(
          `SELECT client_port FROM pg_locks JOIN pg_stat_activity USING (pid)
           WHERE locktype = 'advisory' AND granted AND datname = $1 LIMIT 1`,
          [database],
        );
        if (rows[0]) return rows[0].client_port;
      }
      return null;
    },
    async stop() {
      await admin.end();
      await server.stop();
      if (no_small_disk === null) spawnSync('umount', [disk]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function unlessFull(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
}

/** Mounts a small tmpfs. Only root can. */
async function mountSmallDisk(disk: string, data_dir: string): Promise<string | null> {
  await mkdir(disk);
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m,mode=711', 'tmpfs', disk]);
  if (status !== 0) return `a tmpfs cannot be mounted: ${String(stderr ?? 'no mount command').trim()}`;
  const { uid, gid } = await stat(data_dir);
  await mkdir(join(disk, 'space'));
  await chown(join(disk, 'space'), uid, gid);
  return null;
}
