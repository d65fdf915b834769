import type { JsonObject, Role } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Query, Statement, Store } from '../open-store.js';

/** A plan run that is locked: nobody else advances it until the transaction ends. */
export type ClaimedRun = {
  run_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  plan_hash: string;
  policy_hash: string;
  inputs: JsonObject;
  max_parallel: number | null;
  session_id: string | null;
  labels: Record<string, string>;
  paused: boolean;
  stopping: 'failed' | 'canceled' | null;
  dropped: boolean;
  live: number;
  unended: number;
  ended: number;
  seq: number;
  calls: Record<string, number>;
  elapsed_ms: number;
  traceparent: string | null;
  /** No step has moved or been called yet. */
  untouched: boolean;
};

/**
 * Skips runs that another coordinator has locked: it hears the same signals. A coordinator that freezes loses its transaction, and
 * with it the locks, after 5 s. Without hash joins, the statements of this transaction look rows up by their keys and never hash a
 * table to find a few of them.
 */
const CLAIM: Statement = {
  name: 'claim-plan-runs',
  text: `
    WITH settings AS MATERIALIZED (
      SELECT set_config('enable_hashjoin', 'off', true), set_config('idle_in_transaction_session_timeout', '5s', true))
    SELECT run_id, tenant, actor, roles, plan_hash, policy_hash, inputs, max_parallel, session_id, labels, paused, stopping,
      dropped, live, unended, ended, seq, calls, traceparent, extract(epoch FROM now() - created_at)::float8 * 1000 AS elapsed_ms,
      CASE WHEN seq = 0 THEN NOT EXISTS (SELECT FROM invocations i WHERE i.run_id = plan_runs.run_id)
        AND NOT EXISTS (SELECT FROM steps s WHERE s.run_id = plan_runs.run_id AND s.status <> 'pending')
        ELSE false END AS untouched
    FROM plan_runs WHERE run_id = ANY ($1) AND active AND (SELECT count(*) FROM settings) = 1
    ORDER BY run_id FOR UPDATE SKIP LOCKED`,
};

export const claimPlanRuns = (query: Query, run_ids: readonly string[]): Promise<ClaimedRun[]> =>
  query<ClaimedRun>(CLAIM, [run_ids]);

export async function loadPlan(db: Db, run_id: string): Promise<JsonObject | undefined> {
  const row = await db.selectFrom('plan_runs').select('plan').where('run_id', '=', run_id).executeTakeFirst();
  return row?.plan;
}

/** `state` changes whenever the run or one of its steps moves. A run that moves is already being advanced. */
export type IdleRun = { run_id: string; state: string };

/**
 * Active runs that may need attention although no signal arrived: not started, ends that were not processed, steps that are ready,
 * a requested stop, or nothing left to do.
 */
export async function findIdlePlanRuns(store: Store, limit: number): Promise<IdleRun[]> {
  const { rows } = await sql<IdleRun>`
    SELECT p.run_id, p.seq || ' ' || counted AS state
    FROM plan_runs p JOIN runs r ON r.run_id = p.run_id,
      LATERAL (SELECT r.completed_steps + r.denied_steps + r.failed_steps + r.canceled_steps AS counted) AS c
    WHERE p.active AND (
      r.status = 'pending' OR p.unended = 0 OR counted > p.ended
      OR (p.stopping IS NOT NULL AND NOT p.dropped)
      OR (p.waiting AND NOT p.paused AND p.stopping IS NULL AND (p.max_parallel IS NULL OR p.live < p.max_parallel)))
    ORDER BY p.run_id LIMIT ${limit}`.execute(store.db);
  return rows;
}
