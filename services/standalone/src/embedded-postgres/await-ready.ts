import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { readLockFile } from './postmaster-files.js';
import type { GuardedServer, ServerExit } from './start-guarded.js';
import type { StartLog } from './start-log.js';

/** Recovery after a crash replays a few gigabytes of log at most. */
const PATIENCE_MS = 300_000;
const REPORT_EVERY_MS = 10_000;

/** Waits until Postgres accepts connections or exits. It reports this only in its lock file, so the file is polled. */
export async function awaitReady(
  server: GuardedServer,
  { data_dir, log }: { data_dir: string; log: StartLog },
): Promise<'ready' | ServerExit> {
  const started = performance.now();
  let report_at = started + REPORT_EVERY_MS;
  for (;;) {
    const lock = await readLockFile(data_dir);
    if (lock?.pid === server.pid && lock.ready) return 'ready';
    const exit = await Promise.race([server.exited, delay(10)]);
    if (exit !== undefined) return exit;
    const now = performance.now();
    if (now > report_at) {
      log.warn(
        `Postgres is still starting after ${Math.round((now - started) / 1000)} s, probably recovering from a crash`,
      );
      report_at = now + REPORT_EVERY_MS;
    }
    if (now - started > PATIENCE_MS) {
      await server.stop();
      throw new EmbeddedPostgresError(`Postgres did not become ready within ${PATIENCE_MS / 1000} s on ${data_dir}.`, {
        suggestion: `See ${data_dir}.log for what it was doing, and start again: recovery continues where it stopped.`,
      });
    }
  }
}
