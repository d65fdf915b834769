import { sql } from 'kysely';
import type { Store } from './open-store.js';

/** Well below `idle_in_transaction_session_timeout`, after which Postgres ends the transaction and releases its lock. */
const BEAT_MS = 3000;

/**
 * Runs `work` unless another process is running it; returns whether it ran. The lock belongs to a transaction, which Postgres ends
 * after 10 s without a statement, so a frozen process or a lost host does not keep it. A session-level lock would last until the
 * server notices that the connection is dead. A process that loses the lock does not stop, so `work` must tolerate that another
 * process starts it in the meantime.
 */
export const onlyOne = (store: Store, what: string, work: () => Promise<void>): Promise<boolean> =>
  store.db.transaction().execute(async (db) => {
    const key = sql`hashtextextended(${`capstan:${what}`}, 0)`;
    const { rows } = await sql<{ mine: boolean }>`SELECT pg_try_advisory_xact_lock(${key}) AS mine`.execute(db);
    if (!rows[0]?.mine) return false;
    // A failed heartbeat means that the lock is lost; the commit then fails.
    const beat = setInterval(() => void sql`SELECT 1`.execute(db).catch(() => {}), BEAT_MS);
    try {
      await work();
      return true;
    } finally {
      clearInterval(beat);
    }
  });
