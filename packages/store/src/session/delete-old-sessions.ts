import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { isOf, type RetentionRule } from '../retention/retention-rule.js';

const BATCH = 100;

/**
 * Deletes sessions that have not been used for this long, with their files and notes. Returns their number; call it again while the batch is full.
 */
export async function deleteOldSessions(
  store: Store,
  older_than_ms: number,
  tenants: RetentionRule['tenants'] = { except: [] },
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM sessions WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM sessions
      WHERE used_at < now() - ${older_than_ms} * interval '1 millisecond' AND ${isOf(tenants, sql`tenant`)}
        AND NOT EXISTS (
          SELECT FROM invocations WHERE invocations.tenant = sessions.tenant
            AND invocations.session_id = sessions.session_id
            AND invocations.created_at > now() - ${older_than_ms} * interval '1 millisecond'
        )
      ORDER BY used_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ))`.execute(store.db);
  return Number(numAffectedRows ?? 0);
}
