import { sql } from 'kysely';
import type { Store } from './open-store.js';

/** Runs `work` unless another process is at it. The lock is the connection's: it ends with the process. */
export async function onlyOne(store: Store, what: string, work: () => Promise<void>): Promise<boolean> {
  return store.db.connection().execute(async (db) => {
    const key = sql`hashtextextended(${`capstan:${what}`}, 0)`;
    const { rows } = await sql<{ mine: boolean }>`SELECT pg_try_advisory_lock(${key}) AS mine`.execute(db);
    if (!rows[0]?.mine) return false;
    try {
      await work();
      return true;
    } finally {
      await sql`SELECT pg_advisory_unlock(${key})`.execute(db);
    }
  });
}
