import type { JsonObject, Role } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { notify } from '../signal/channel.js';

export type NewPlanRun = {
  run_id: string;
  tenant: string;
  actor: string;
  roles: Role[];
  name: string | null;
  plan: JsonObject;
  plan_hash: string;
  policy_hash: string;
  /** It brought its policy with it; else it has the one in force. */
  own_policy?: boolean;
  inputs: JsonObject;
  max_parallel: number | null;
  webhook_url: string | null;
  session_id?: string | null;
  labels?: Record<string, string>;
  /** In the order of the plan; `unmet` is how many others each needs. */
  steps: { step_id: string; name: string | null; tool_id: string; unmet: number }[];
};

/**
 * One statement, with what the audit says of it: whoever submits waits for one round to Postgres, and so do the first steps.
 * The run itself counts as one more live step until it is ended, so that no count of its steps ever ends it: what is left
 * of a plan is for its engine to say.
 */
export async function insertPlanRun(
  db: Db,
  { steps, ...run }: NewPlanRun,
  /** Sent to every process as the run is committed. */
  signals: readonly string[] = [],
): Promise<void> {
  const rows = steps.map((step, index) => ({ ...step, step: index }));
  await sql`
    WITH run AS (
      INSERT INTO runs (run_id, tenant, actor, kind, status, name, plan_hash, policy_hash, total_steps, live_steps)
      VALUES (${run.run_id}, ${run.tenant}, ${run.actor}, 'plan', 'pending', ${run.name}, ${run.plan_hash},
        ${run.policy_hash}, ${steps.length}, ${steps.length + 1})
    ), planned AS (
      INSERT INTO plan_runs (run_id, tenant, actor, roles, plan, plan_hash, policy_hash, own_policy, inputs, max_parallel,
        webhook_url, session_id, labels, unended)
      VALUES (${run.run_id}, ${run.tenant}, ${run.actor}, ${run.roles}, ${JSON.stringify(run.plan)}, ${run.plan_hash},
        ${run.policy_hash}, ${run.own_policy ?? false}, ${JSON.stringify(run.inputs)}, ${run.max_parallel}, ${run.webhook_url},
        ${run.session_id ?? null}, ${JSON.stringify(run.labels ?? {})}, ${steps.length})
    ), stepped AS (
      INSERT INTO steps (run_id, step, step_id, name, tool_id, status, unmet)
      SELECT ${run.run_id}, step, step_id, name, tool_id, 'pending', unmet
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS s (step int, step_id text, name text, tool_id text, unmet int)
    ), audited AS (
      INSERT INTO audit (tenant, actor, event, subject, detail)
      VALUES (${run.tenant}, ${run.actor}, 'run.submit', ${run.run_id},
        ${JSON.stringify({ plan_hash: run.plan_hash, policy_hash: run.policy_hash })})
    )
    SELECT count(${sql.raw(notify('signal'))}) FROM unnest(${signals}::text[]) AS signal`.execute(db);
}
