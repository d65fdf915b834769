import { sql } from 'kysely';
import type { Store } from './open-store.js';

/** Well within `idle_in_transaction_session_timeout`, after which Postgres takes the lock from whoever has gone silent. */
const BEAT_MS = 3000;

/**
 * Runs `work` unless another process is at it. The lock is that of a transaction, which Postgres ends when nothing is heard
 * from its client for 10 s: a process that is frozen, or whose host is gone, does not keep it. A lock of the session would last
 * for as long as the server believes in the connection. So `work` must bear that another begins while it still goes on.
 */
export const onlyOne = (store: Store, what: string, work: () => Promise<void>): Promise<boolean> =>
  store.db.transaction().execute(async (db) => {
    const key = sql`hashtextextended(${`capstan:${what}`}, 0)`;
    const { rows } = await sql<{ mine: boolean }>`SELECT pg_try_advisory_xact_lock(${key}) AS mine`.execute(db);
    if (!rows[0]?.mine) return false;
    // A beat that fails has lost the lock, and the commit will say so.
    const beat = setInterval(() => void sql`SELECT 1`.execute(db).catch(() => {}), BEAT_MS);
    try {
      await work();
      return true;
    } finally {
      clearInterval(beat);
    }
  });
