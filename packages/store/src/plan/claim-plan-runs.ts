import type { JsonObject, Role } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Query, Statement, Store } from '../open-store.js';

/** A run whose plan nobody else advances until the transaction ends. */
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
  /** Nothing of it has moved or was called yet. */
  untouched: boolean;
};

/**
 * Those of another coordinator are left to it: it hears the same signals. One that is frozen in its turn loses it, and with
 * it the runs, before long. Statements from here on look rows up by their keys, and never hash a table to find a few of them.
 */
const CLAIM: Statement = {
  name: 'claim-plan-runs',
  text: `
    WITH settings AS MATERIALIZED (
      SELECT set_config('enable_hashjoin', 'off', true), set_config('idle_in_transaction_session_timeout', '5s', true))
    SELECT run_id, tenant, actor, roles, plan_hash, policy_hash, inputs, max_parallel, session_id, labels, paused, stopping,
      dropped, live, unended, ended, seq, calls, extract(epoch FROM now() - created_at)::float8 * 1000 AS elapsed_ms,
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

/** `state` changes whenever the run, or anything of it, has moved: what moves is looked after already. */
export type IdleRun = { run_id: string; state: string };

/**
 * Active runs for which there may be something to do that no signal told of: not begun, more ended than was seen, steps
 * that are ready, to be stopped, or over.
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
