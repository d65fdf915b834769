import type { InvocationStatus } from '@capstan/contracts';
import { RETURN_HOLDS } from '../hold/return-holds.js';
import type { Statement, Store } from '../open-store.js';
import { tally } from '../run/tally.js';
import { removeFromClaims } from './remove-from-claims.js';
import type { Settlement } from './settlement.js';

/**
 * Moves calls from their receipt to `work`, to be retried or to wait for a person. A retry of a call that was to be canceled ends
 * here. A call that already has a result is left alone. An attempt returned at shutdown does not count towards max_attempts.
 */
const RETURN: Statement = {
  name: 'return-calls',
  text: `
    WITH asked AS MATERIALIZED (
      SELECT a.* FROM json_to_recordset($1::json) AS a (invocation_id text, claim_id text, attempt int, status text,
        backoff_ms bigint, expires_in_ms bigint, outcome text, error text, question json)
      WHERE NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = a.invocation_id)
    ), ${removeFromClaims(
      `SELECT claim_id, worker_id, owned_at, ids, attempts, first_attempts, canceled FROM claims
        WHERE claim_id = ANY (ARRAY (SELECT claim_id FROM asked)) ORDER BY claim_id FOR UPDATE`,
      'EXISTS (SELECT FROM asked a WHERE a.claim_id = l.claim_id AND a.invocation_id = u.id AND a.attempt = u.attempt)',
    )}, moved AS MATERIALIZED (
      SELECT t.invocation_id, t.attempt, t.worker_id, t.owned_at, i.seq, i.tenant, i.runner, i.priority, i.run_id,
        i.quota_scopes, i.watched, i.actor, i.tool_id, a.outcome, a.error, a.question, a.expires_in_ms,
        t.first_attempt + (a.outcome = 'handed_back')::int AS first_attempt,
        CASE WHEN t.canceled THEN 'canceled' ELSE a.status END AS status,
        CASE WHEN a.status = 'queued' AND a.backoff_ms > 0 THEN now() + a.backoff_ms * interval '1 millisecond' END AS available_at,
        CASE WHEN a.status = 'held' THEN now() + a.expires_in_ms * interval '1 millisecond' ELSE i.expires_at END AS expires_at
      FROM asked a JOIN taken t ON t.invocation_id = a.invocation_id AND t.claim_id = a.claim_id
        JOIN invocations i ON i.invocation_id = a.invocation_id
      WHERE i.invocation_id = ANY (ARRAY (SELECT invocation_id FROM asked))
    ), held AS (
      UPDATE invocations i SET expires_at = m.expires_at FROM moved m
      WHERE m.status = 'held' AND i.invocation_id = ANY (ARRAY (SELECT invocation_id FROM moved WHERE status = 'held'))
        AND i.invocation_id = m.invocation_id
    ), recorded AS (
      INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome, error)
      SELECT invocation_id, attempt, worker_id, owned_at, outcome, error FROM moved WHERE status <> 'canceled'
    ), waiting AS (
      INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt, available_at, expires_at,
        quota_scopes)
      SELECT invocation_id, seq, tenant, runner, priority, status, attempt, first_attempt, available_at, expires_at, quota_scopes
      FROM moved WHERE status <> 'canceled'
    ), ended AS (
      INSERT INTO results (invocation_id, status, outcome, attempt, first_attempt, worker_id, started_at, error)
      SELECT invocation_id, status, nullif(outcome, status), attempt, first_attempt, worker_id, owned_at, error
      FROM moved WHERE status = 'canceled'
    ), to_tell AS (
      INSERT INTO ends_to_tell SELECT invocation_id FROM moved WHERE status = 'canceled' AND watched
      ON CONFLICT DO NOTHING
    ), tallied AS (
      ${tally("SELECT run_id, 'running' AS was, status FROM moved WHERE run_id IS NOT NULL AND status = 'canceled'")}
    ), ${RETURN_HOLDS}
    SELECT invocation_id, attempt, status FROM moved`,
};

type Moved = { invocation_id: string; attempt: number; status: InvocationStatus };

export const returnCalls = (store: Store, returns: readonly Settlement[]): Promise<Moved[]> =>
  store.query<Moved>(RETURN, [
    JSON.stringify(
      returns.map(
        ({ invocation_id, claim_id, attempt, status, backoff_ms, expires_in_ms, outcome, error, question }) => ({
          ...{ invocation_id, claim_id, attempt, status, backoff_ms, expires_in_ms, outcome, error, question },
        }),
      ),
    ),
  ]);
