import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import type { Binaries } from './find-binaries.js';
import type { Launch } from './launch.js';
import { ownTree } from './own-tree.js';
import { processIsAlive } from './process-is-alive.js';
import { runLaunched } from './run-launched.js';
import { createSuperuserPassword } from './superuser-password.js';

export const SUPERUSER = 'capstan';

interface Cluster {
  data_dir: string;
  binaries: Binaries;
  launch: Launch;
  durable: boolean;
}

/**
 * Creates the database under a temporary name and renames it when it is complete, so that data_dir never contains a
 * partial one. If two starts run at once, both create a database, and the slower one discards its own.
 */
export async function initialiseCluster({ data_dir, binaries, launch, durable }: Cluster): Promise<void> {
  await removeAbandonedDrafts(data_dir);
  const password = await createSuperuserPassword(data_dir);
  const draft = `${draftPrefix(data_dir)}${process.pid}-${randomBytes(4).toString('hex')}`;
  draftsUnderWay.add(draft);
  try {
    await mkdir(draft, { mode: 0o700 });
    if (launch.owner !== undefined) await ownTree(draft, launch.owner);
    await runInitdb({ data_dir: draft, binaries, launch, durable }, password);
    await moveIntoPlace(draft, data_dir);
  } finally {
    await rm(draft, { recursive: true, force: true });
    draftsUnderWay.delete(draft);
  }
}

async function runInitdb({ data_dir, binaries, launch, durable }: Cluster, password: string): Promise<void> {
  // The password arrives through a pipe: the file may not be readable for the user Postgres runs as, and an
  // argument is readable for everyone. The `cat` makes it a pipe; Node gives a socket, which cannot be opened.
  const script = 'cat | "$@" --pwfile=/dev/stdin';
  const command = [
    ...['sh', '-c', script, 'sh', binaries.initdb],
    ...['--pgdata', data_dir, '--username', SUPERUSER, '--auth', 'scram-sha-256', '--encoding', 'UTF8'],
    // Postgres' own collation: it sorts by code point everywhere and never changes with the system's libraries.
    ...['--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--no-instructions'],
    ...(durable ? [] : ['--no-sync']),
  ];
  const run = await runLaunched(launch, command, password);
  if (run.ok) return;
  throw new EmbeddedPostgresError(`initdb failed in ${data_dir} (${launch.name}): ${run.problem}`, {
    suggestion:
      'Correct what it names, set CAPSTAN_DATA_DIR to another folder, or set DATABASE_URL to a PostgreSQL 15 or newer.',
  });
}

async function moveIntoPlace(draft: string, data_dir: string): Promise<void> {
  try {
    await rename(draft, data_dir);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return; // another start has created it first
    throw new EmbeddedPostgresError(`The new database cannot be moved to ${data_dir}: ${String(cause)}`, {
      suggestion: 'Set CAPSTAN_DATA_DIR to a plain folder; a volume is mounted on the folder above the database.',
      cause,
    });
  }
  const parent = await open(dirname(data_dir));
  await parent.sync().finally(() => parent.close());
}

const draftPrefix = (data_dir: string): string => `${data_dir}.initdb-`;

/** The drafts of this process. A container reuses pids on each start, so our pid in a name does not prove that a draft is ours. */
const draftsUnderWay = new Set<string>();

/** Removes drafts of killed processes; the name contains the pid. */
async function removeAbandonedDrafts(data_dir: string): Promise<void> {
  const prefix = basename(draftPrefix(data_dir));
  for (const name of await readdir(dirname(data_dir))) {
    if (!name.startsWith(prefix)) continue;
    const draft = join(dirname(data_dir), name);
    const maker = Number.parseInt(name.slice(prefix.length), 10);
    const under_way = maker === process.pid ? draftsUnderWay.has(draft) : processIsAlive(maker);
    if (!under_way) await rm(draft, { recursive: true, force: true, maxRetries: 3 });
  }
}
