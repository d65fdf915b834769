import { sql } from 'kysely';
import type { Db } from '../open-store.js';

/** The quotas that a deferred call waits for; none if it waits for its start time. */
export async function quotasAwaited(db: Db, invocation_id: string): Promise<string[]> {
  const { rows } = await sql<{ quota_scopes: string[] }>`
    SELECT quota_scopes FROM work WHERE invocation_id = ${invocation_id}
      AND quota_scopes IS NOT NULL AND status = 'deferred' AND run_at IS NULL`.execute(db);
  return rows[0]?.quota_scopes ?? [];
}
