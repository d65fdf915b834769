import { loneInvocationId, type Principal, type Run } from '@capstan/contracts';
import { type RawBuilder, sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';

/** The columns that a replayed invocation copies. It has no attempts, no worker and no start, because nothing is executed. */
const INVOCATION = sql`tenant, actor, roles, tool_id, runner, inputs, input_hash, descriptor_hash, policy_hash, decision, mode,
  session_id, idempotent, spec_frozen, spec_hash, priority, timeout_ms, max_attempts, labels, expires_at, run_at,
  retry_backoff_ms`;
const RESULT = sql`status, attempt, success, payload, error, code, declared_side_effects, artifacts, facts, duration_ms, exit_code,
  truncated, input_hash, output_hash, removed_at`;

export type Replay = { run_id: string; of: Run };

/** Creates a run with copies of the stored results, in the stored order. Postgres copies the rows in one statement; they are never loaded. */
export async function replayRun(store: Store, by: Principal, { run_id, of }: Replay): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    await insertReplay(db, by, run_id, of);
    if (of.kind === 'plan') await copyPlan(db, run_id, of.run_id);
    await copyInvocations(db, run_id, of);
    await appendAudit(db, [
      {
        tenant: by.tenant,
        actor: by.actor,
        event: 'run.replay',
        subject: run_id,
        detail: { replay_of: of.run_id, plan_hash: of.plan_hash },
      },
    ]);
  });
}

/** A lone invocation has no run row, so its replay is a run with one call. */
export async function insertReplay(db: Db, by: Principal, run_id: string, of: Run): Promise<void> {
  const { total_steps, completed_steps, denied_steps, failed_steps, canceled_steps, skipped_steps } = of;
  const { name, plan_hash, policy_hash, reason } = of;
  const kind = of.kind === 'plan' ? 'plan' : 'bulk';
  await db
    .insertInto('runs')
    .values({
      ...{
        run_id,
        tenant: by.tenant,
        actor: by.actor,
        kind,
        status: kind === 'plan' ? of.status : null,
        name,
        plan_hash,
      },
      ...{
        policy_hash,
        reason,
        total_steps,
        live_steps: 0,
        completed_steps,
        denied_steps,
        failed_steps,
        canceled_steps,
      },
      ...{ skipped_steps, mode: 'replay', replay_of: of.run_id, finished_at: sql<string>`now()` },
    })
    .execute();
}

async function copyPlan(db: Db, run_id: string, of: string): Promise<void> {
  const plan = sql`tenant, actor, roles, plan, plan_hash, policy_hash, inputs, max_parallel, session_id, labels, stopping, dropped, live,
    unended, ended, seq, calls, step_ids, step_names, step_tools`;
  await sql`INSERT INTO plan_runs (run_id, active, ${plan}) SELECT ${run_id}, false, ${plan} FROM plan_runs WHERE run_id = ${of}`.execute(
    db,
  );
  const step = sql`step, element, step_id, name, tool_id, status, unmet, seq, item, has_invocation, reason, elements, unended, unsuccessful,
    reused_from`;
  await sql`INSERT INTO steps (run_id, ${step}) SELECT ${run_id}, ${step} FROM steps WHERE run_id = ${of}`.execute(db);
}

/** Copies all calls of a plan, or those of some steps. */
export async function copyInvocations(
  db: Db,
  run_id: string,
  { run_id: of, kind }: Pick<Run, 'run_id' | 'kind'>,
  only: RawBuilder<unknown> = sql`true`,
): Promise<void> {
  // Looks rows up by their keys. A hash join would read the results of all runs to find those of one.
  await sql`SELECT set_config('enable_hashjoin', 'off', true)`.execute(db);
  const nano = run_id.slice('run_'.length);
  // The id of a step's invocation contains its position in the plan, other ids the position in the run.
  const new_id: RawBuilder<string> =
    kind === 'plan'
      ? sql`'inv_' || ${nano} || substr(invocation_id, ${of.length + 1})`
      : sql`'inv_' || ${nano} || '-' || (row_number() OVER (ORDER BY seq) - 1)`;
  const whole = kind === 'lone' ? sql`invocation_id = ${loneInvocationId(of)} AND run_id IS NULL` : sql`run_id = ${of}`;
  const mine = sql`${whole} AND ${only}`;
  const copied = sql`SELECT ${new_id} AS new_id, invocation_id AS old_id FROM invocations WHERE ${mine}`;
  await sql`
    INSERT INTO invocations (invocation_id, run_id, ${INVOCATION})
    SELECT ${new_id}, ${run_id}, ${INVOCATION} FROM invocations WHERE ${mine} ORDER BY seq`.execute(db);
  await sql`
    INSERT INTO results (invocation_id, ${RESULT})
    SELECT c.new_id, ${RESULT} FROM (${copied}) AS c JOIN results r ON r.invocation_id = c.old_id`.execute(db);
  await sql`
    INSERT INTO artifact_names (invocation_id, sha256, name, media_type, tenant)
    SELECT c.new_id, n.sha256, n.name, n.media_type, n.tenant
    FROM (${copied}) AS c JOIN artifact_names n ON n.invocation_id = c.old_id`.execute(db);
}
