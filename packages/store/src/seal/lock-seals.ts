import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/**
 * Whoever seals a run, or voids its seal, waits here for the other, until the transaction ends. Runs share a fixed number
 * of locks: one for each run would fill Postgres' table of locks when thousands are redriven at once.
 */
export async function lockSeals(db: Db, run_ids: readonly string[]): Promise<void> {
  await sql`
    SELECT pg_advisory_xact_lock(1935764844, bucket)
    FROM (SELECT DISTINCT hashtext(run_id) & 63 AS bucket FROM unnest(${run_ids}::text[]) AS run_id ORDER BY bucket) AS buckets`.execute(
    db,
  );
}
