import type { JsonObject, Role } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { notify } from '../signal/channel.js';
import type { Titled } from './move-steps.js';

export type NewPlanRun = {
  run_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  name: string | null;
  plan: JsonObject;
  plan_hash: string;
  policy_hash: string;
  /** The policy was submitted with the run; otherwise the current one applies. */
  own_policy?: boolean;
  inputs: JsonObject;
  max_parallel: number | null;
  webhook_url: string | null;
  session_id?: string | null;
  labels?: Record<string, string>;
  /** The span that submitted it; absent if tracing is off. */
  traceparent?: string | undefined;
  /** In the order of the plan. */
  steps: readonly Titled[];
};

/**
 * One statement, including the audit event, so the submitter and the first steps wait for a single round trip. The run counts itself as
 * an additional live step until the engine ends it: the counts of its steps never reach zero before, because only the engine knows
 * what is left of a plan.
 */
const INSERT: Statement = {
  name: 'insert-plan-run',
  text: `
    WITH planned AS (
      INSERT INTO plan_runs (run_id, tenant, actor, roles, plan, plan_hash, policy_hash, own_policy, inputs, max_parallel,
        webhook_url, session_id, labels, unended, step_ids, step_names, step_tools, traceparent)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, cardinality($14::text[]), $14, $15, $16, $19)
      RETURNING run_id, tenant, actor, plan_hash, policy_hash, unended
    ), run AS (
      INSERT INTO runs (run_id, tenant, actor, kind, status, name, plan_hash, policy_hash, total_steps, live_steps)
      SELECT run_id, tenant, actor, 'plan', 'pending', $17, plan_hash, policy_hash, unended, unended + 1 FROM planned
    ), audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail)
      SELECT tenant, actor, 'run.submit', run_id, json_build_object('plan_hash', plan_hash, 'policy_hash', policy_hash)
      FROM planned
    )
    SELECT count(${notify('signal')}) FROM unnest($18::text[]) AS signal`,
};

export async function insertPlanRun(
  query: Query,
  { steps, ...run }: NewPlanRun,
  /** Sent to every process when the run is committed. */
  signals: readonly string[] = [],
): Promise<void> {
  await query(INSERT, [
    run.run_id,
    run.tenant,
    run.actor,
    run.roles,
    JSON.stringify(run.plan),
    run.plan_hash,
    run.policy_hash,
    run.own_policy ?? false,
    JSON.stringify(run.inputs),
    run.max_parallel,
    run.webhook_url,
    run.session_id ?? null,
    JSON.stringify(run.labels ?? {}),
    steps.map((step) => step.step_id),
    steps.map((step) => step.name),
    steps.map((step) => step.tool_id),
    run.name,
    signals,
    run.traceparent ?? null,
  ]);
}
