import { sql } from 'kysely';
import type { Store } from '../open-store.js';
import { isOf, type RetentionRule } from '../retention/retention-rule.js';

const BATCH = 100;

/** Forgets sessions that nobody used for so long, with their files and notes. Answers how many; call again while it is a full batch. */
export async function deleteOldSessions(
  store: Store,
  older_than_ms: number,
  tenants: RetentionRule['tenants'] = { except: [] },
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM sessions WHERE (tenant, session_id) IN (
      SELECT tenant, session_id FROM sessions
      WHERE used_at < now() - ${older_than_ms} * interval '1 millisecond' AND ${isOf(tenants, sql`tenant`)}
        AND NOT EXISTS (
          SELECT FROM invocations WHERE invocations.tenant = sessions.tenant
            AND invocations.session_id = sessions.session_id
            AND invocations.created_at > now() - ${older_than_ms} * interval '1 millisecond'
        )
      ORDER BY used_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    )`.execute(store.db);
  return Number(numAffectedRows ?? 0);
}
