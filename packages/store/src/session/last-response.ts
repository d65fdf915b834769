import type { LastResponse } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';
import type { SessionScope } from './session-scope.js';

const NEWEST = `
    FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.tenant = $1 AND i.session_id = $2 AND i.runner <> 'analyze' AND r.success IS NOT NULL
      AND i.seq > coalesce((SELECT cleared_seq FROM sessions WHERE tenant = $1 AND session_id = $2), -1)
    ORDER BY i.seq DESC LIMIT 1`;

const LAST: Statement = {
  name: 'last-response',
  text: `SELECT i.invocation_id, i.tool_id, r.status, r.success, r.payload, r.error, r.finished_at ${NEWEST}`,
};

const CLEAR: Statement = {
  name: 'clear-last-response',
  text: `INSERT INTO sessions AS s (tenant, session_id, cleared_seq) SELECT $1, $2, last.seq FROM (SELECT i.seq ${NEWEST}) last
    ON CONFLICT (tenant, session_id) DO UPDATE
    SET cleared_seq = greatest(s.cleared_seq, excluded.cleared_seq), used_at = now()`,
};

/**
 * The newest result of the session, ignoring analyses of results. It is read from the stored results, so it is complete and the same for every
 * process.
 */
export async function lastResponse(store: Store, tenant: string, session_id: string): Promise<LastResponse | null> {
  const [row] = await store.query<LastResponse>(LAST, [tenant, session_id]);
  return row ?? null;
}

/** The session has no last response until another call ends. Stored results stay. */
export async function clearLastResponse(store: Store, { tenant, session_id }: SessionScope): Promise<void> {
  await store.query(CLEAR, [tenant, session_id]);
}
