import { lstat, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { awaitFormerPostmaster } from './await-former-postmaster.js';
import { chooseLaunch } from './choose-launch.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { ensureDatabase } from './ensure-database.js';
import { findBinaries } from './find-binaries.js';
import { initialiseCluster, SUPERUSER } from './initialise-cluster.js';
import { ownTree } from './own-tree.js';
import { keepServerLogBounded, serverLogFile } from './server-log.js';
import type { ServerExit } from './start-guarded.js';
import { type StartLog, silentLog } from './start-log.js';
import { startServer } from './start-server.js';
import { readSuperuserPassword } from './superuser-password.js';

export interface EmbeddedPostgresOptions {
  /** The folder of the database. Its log and password are stored next to it: `<data_dir>.log`, `<data_dir>.password`. */
  data_dir: string;
  /** A free one by default. */
  port?: number;
  log?: StartLog;
  /** Postgres settings that override ours. */
  settings?: Readonly<Record<string, string>>;
  /** False only in tests: killing Postgres loses the last commits, a crash of the machine everything. */
  durable?: boolean;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when Postgres has ended, whoever ended it. */
  readonly exited: Promise<ServerExit>;
  /** A fast shutdown: connections are closed, and everything committed is on disk. */
  stop(): Promise<void>;
}

const DATABASE = 'capstan';

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { port, log = silentLog, settings = {}, durable = true } = options;
  const binaries = await findBinaries();
  const data_dir = await locate(options.data_dir);
  const launch = await chooseLaunch(binaries, data_dir);

  const version = await readVersion(data_dir);
  if (version === undefined) {
    log.info(`creating a database in ${data_dir}`);
    await initialiseCluster({ data_dir, binaries, launch, durable });
  } else if (version !== launch.major) {
    throw otherVersion(data_dir, version, launch.major);
  }
  await awaitFormerPostmaster(data_dir, log);
  if (launch.owner !== undefined) await ownTree(data_dir, launch.owner);

  const password = await readSuperuserPassword(data_dir);
  const server = await startServer({ data_dir, binaries, launch, port, durable, settings, log });
  const url = `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${server.port}/${DATABASE}`;
  try {
    await ensureDatabase(url, data_dir);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const bounded = keepServerLogBounded(serverLogFile(data_dir));
  void server.exited.then(bounded.stop);
  log.info(`Postgres ${launch.major} runs on 127.0.0.1:${server.port} ${launch.name} (pid ${server.pid})`);
  return { url, port: server.port, pid: server.pid, exited: server.exited, stop: server.stop };
}

/** The real path, because Postgres changes to its folder, and other users must be able to enter it. */
async function locate(data_dir: string): Promise<string> {
  const path = resolve(data_dir);
  try {
    await mkdir(dirname(path), { recursive: true });
    const entry = await lstat(path).catch(() => undefined);
    return entry === undefined ? join(await realpath(dirname(path)), basename(path)) : await realpath(path);
  } catch (cause) {
    throw new EmbeddedPostgresError(`The folder for the database, ${path}, cannot be created: ${String(cause)}`, {
      suggestion: 'Set CAPSTAN_DATA_DIR to a folder that can be written, or DATABASE_URL to a PostgreSQL 15 or newer.',
      cause,
    });
  }
}

/** The major version of the database in the folder; undefined if the folder is empty or missing. */
async function readVersion(data_dir: string): Promise<string | undefined> {
  try {
    return (await readFile(join(data_dir, 'PG_VERSION'), 'utf8')).trim();
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const names = code === 'ENOENT' ? await readdir(data_dir).catch(() => []) : undefined;
    if (names?.length === 0) return undefined;
    const problem = names === undefined ? `cannot be read (${code})` : 'has files but no database in it';
    throw new EmbeddedPostgresError(`${data_dir} ${problem}.`, {
      suggestion:
        'Start as the user whose it is (or `chown -R` it), set CAPSTAN_DATA_DIR to another folder, or move it away.',
      cause,
    });
  }
}

function otherVersion(data_dir: string, found: string, ours: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`${data_dir} was made by Postgres ${found}; this is Postgres ${ours}.`, {
    suggestion:
      `Dump it with a Postgres ${found} (pg_dumpall), move the folder away, start, and load the dump; ` +
      'or set DATABASE_URL to a server that has it.',
  });
}
