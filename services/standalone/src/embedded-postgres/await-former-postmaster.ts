import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isPostmasterOf, LOCK_FILE, readLockFile, readOwner } from './postmaster-files.js';
import { processIsAlive } from './process-is-alive.js';
import type { StartLog } from './start-log.js';

/** A little longer than a guardian waits before it kills Postgres. */
const PATIENCE_MS = 100_000;

/**
 * Returns when no postmaster runs on the folder: usually at once, or when a postmaster whose owner was killed has
 * stopped. Throws if the owner is alive.
 */
export async function awaitFormerPostmaster(data_dir: string, log: StartLog): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let round = 0; ; round++) {
    const lock = await readLockFile(data_dir);
    if (lock === undefined) return;
    if (!(await isPostmasterOf(data_dir, lock.pid))) return removeMisleadingLock(data_dir, lock.pid);

    const owner = await readOwner(data_dir);
    if (owner === undefined || processIsAlive(owner)) throw inUse(data_dir, lock.pid, owner);
    if (performance.now() > deadline) throw doesNotStop(data_dir, lock.pid, owner);
    if (round === 0) log.info(`waiting for the Postgres of an earlier run (pid ${lock.pid}) to stop`);
    await delay(50);
  }
}

/** Postgres ignores the lock of a dead process, but not one whose pid has been reused by another process. */
async function removeMisleadingLock(data_dir: string, pid: number): Promise<void> {
  if (processIsAlive(pid)) await rm(join(data_dir, LOCK_FILE), { force: true });
}

function inUse(data_dir: string, pid: number, owner: number | undefined): EmbeddedPostgresError {
  if (owner === process.pid) {
    return new EmbeddedPostgresError(`This process already runs a Postgres (pid ${pid}) on ${data_dir}.`, {
      suggestion: 'Stop it first, or use another folder.',
    });
  }
  const user = owner === undefined ? 'a Postgres that was started by hand' : `another capstan (pid ${owner})`;
  const stop = owner === undefined ? `kill -INT ${pid}` : `kill ${owner}`;
  return new EmbeddedPostgresError(`${data_dir} is in use by ${user}; its Postgres has pid ${pid}.`, {
    suggestion: `Stop it (${stop}), or set CAPSTAN_DATA_DIR to another folder, or share a database by setting DATABASE_URL.`,
  });
}

function doesNotStop(data_dir: string, pid: number, owner: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `${data_dir} is still in use by the Postgres (pid ${pid}) of an earlier capstan (pid ${owner}, gone).`,
    {
      suggestion: `Stop it with \`kill -INT ${pid}\` (or \`kill -QUIT ${pid}\` when that takes too long) and start again.`,
    },
  );
}
