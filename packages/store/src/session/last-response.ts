import type { LastResponse } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

const LAST: Statement = {
  name: 'last-response',
  text: `SELECT i.invocation_id, i.tool_id, r.status, r.success, r.payload, r.error, r.finished_at
    FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.tenant = $1 AND i.session_id = $2 AND i.runner <> 'analyze' AND r.success IS NOT NULL
    ORDER BY i.seq DESC LIMIT 1`,
};

/**
 * The newest result of the session that is no analysis (those are about it). It is derived: what was answered is in the
 * results, whole, and every process sees the same.
 */
export async function lastResponse(store: Store, tenant: string, session_id: string): Promise<LastResponse | null> {
  const [row] = await store.query<LastResponse>(LAST, [tenant, session_id]);
  return row ?? null;
}
