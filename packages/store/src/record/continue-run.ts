import type { Principal, Run, StepStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Db, Store } from '../open-store.js';
import { invocationIdOf } from '../plan/step-sql.js';
import type { StepTable } from '../plan/tables.js';
import { copyInvocations } from './replay-run.js';

/** The recorded state of a step, or of an element of one. */
export type RecordedStep = Pick<StepTable, 'step' | 'element'> & { status: StepStatus };

/** The same step in the new run: with a reused result, or still to be executed. */
export type CarriedStep = Pick<StepTable, 'step' | 'element' | 'status' | 'elements' | 'unended' | 'unsuccessful'> & {
  reused: boolean;
};

/**
 * Ordered by position in the plan, a step before its elements; without steps that have not moved. The status is that of the invocation, which also
 * reflects a redrive.
 */
export async function readRecordedSteps(db: Db, run_id: string): Promise<Map<number, RecordedStep[]>> {
  const { rows } = await sql<RecordedStep>`
    SELECT s.step, s.element, coalesce(i.status, s.status) AS status
    FROM steps s LEFT JOIN invocation_states i ON s.has_invocation AND i.invocation_id = ${sql.raw(invocationIdOf('s'))}
    WHERE s.run_id = ${run_id} ORDER BY s.step, s.element`.execute(db);
  const steps = new Map<number, RecordedStep[]>();
  for (const row of rows) {
    const known = steps.get(row.step);
    if (known) known.push(row);
    else steps.set(row.step, [row]);
  }
  return steps;
}

export type Continuation = {
  run_id: string;
  of: Run;
  from: string;
  policy_hash: string;
  steps: readonly CarriedStep[];
};

/**
 * Creates a run of the same plan in which reused results are complete and everything else is ready for the engine. It runs with the caller's roles,
 * under `policy_hash`.
 */
export async function continueRun(
  store: Store,
  by: Principal,
  { run_id, of, from, policy_hash, steps }: Continuation,
): Promise<void> {
  const reused = steps.filter((step) => step.reused && step.elements === null);
  await store.db.transaction().execute(async (db) => {
    await insertSteps(db, run_id, of.run_id, steps.filter(hasMoved));
    await copyInvocations(
      db,
      run_id,
      of,
      sql`invocation_id IN (SELECT ${sql.raw(invocationIdOf('s'))}
        FROM (SELECT ${of.run_id}::text AS run_id, step, element FROM steps WHERE run_id = ${run_id} AND has_invocation) AS s)`,
    );
    await insertRun(db, by, { run_id, of, policy_hash, steps });
    await insertPlan(db, by, { run_id, of, policy_hash, unended: steps.filter(({ reused: ended }) => !ended).length });
    const detail = { replay_of: of.run_id, plan_hash: of.plan_hash, from, policy_hash, reused_steps: reused.length };
    await appendAudit(db, [{ tenant: by.tenant, actor: by.actor, event: 'run.replay', subject: run_id, detail }]);
  });
}

const hasMoved = ({ status, element }: CarriedStep): boolean => status !== 'pending' || element >= 0;

/** Change numbers continue after the reused steps, so that followers of the run get those first. */
async function insertSteps(db: Db, run_id: string, of: string, steps: readonly CarriedStep[]): Promise<void> {
  await sql`
    INSERT INTO steps (run_id, step, element, step_id, name, tool_id, item, status, elements, unended, unsuccessful,
      seq, has_invocation, reason, reused_from)
    SELECT ${run_id}, s.step, s.element, s.step_id, s.name, s.tool_id, s.item, c.status, c.elements, c.unended, c.unsuccessful,
      CASE WHEN c.reused THEN row_number() OVER (PARTITION BY c.reused ORDER BY s.seq, s.step, s.element) ELSE 0 END,
      c.reused AND s.has_invocation, CASE WHEN c.reused THEN s.reason END,
      CASE WHEN c.reused THEN coalesce(s.reused_from, s.run_id) END
    FROM json_to_recordset(${JSON.stringify(steps)}::json) AS c (step int, element int, status text, elements int,
        unended int, unsuccessful int, reused boolean)
      JOIN steps s ON s.run_id = ${of} AND s.step = c.step AND s.element = c.element`.execute(db);
}

/** Counts elements instead of the step that was fanned out. The run itself counts as live. */
async function insertRun(
  db: Db,
  by: Principal,
  { run_id, of, policy_hash, steps }: Pick<Continuation, 'run_id' | 'of' | 'policy_hash' | 'steps'>,
): Promise<void> {
  const shown = steps.filter(({ elements }) => elements === null);
  const count = (...statuses: CarriedStep['status'][]) =>
    shown.filter(({ status }) => statuses.includes(status)).length;
  await db
    .insertInto('runs')
    .values({
      ...{ run_id, tenant: by.tenant, actor: by.actor, kind: 'plan', status: 'pending', name: of.name, policy_hash },
      ...{ plan_hash: of.plan_hash, replay_of: of.run_id, total_steps: shown.length },
      live_steps: shown.filter(({ reused }) => !reused).length + 1,
      completed_steps: count('succeeded'),
      denied_steps: count('denied', 'rejected'),
      failed_steps: count('failed', 'timed_out', 'expired', 'ambiguous'),
    })
    .execute();
}

/** Calls on record count as calls of a tool, so that a policy with a limit decides as it did then. */
async function insertPlan(
  db: Db,
  by: Principal,
  { run_id, of, policy_hash, unended }: Pick<Continuation, 'run_id' | 'of' | 'policy_hash'> & { unended: number },
): Promise<void> {
  const kept = sql`plan, plan_hash, inputs, max_parallel, session_id, labels, step_ids, step_names, step_tools`;
  await sql`
    INSERT INTO plan_runs (run_id, tenant, actor, roles, policy_hash, unended, ended, seq, calls, ${kept})
    SELECT ${run_id}, ${by.tenant}, ${by.actor}, ${by.roles}, ${policy_hash}, ${unended},
      (SELECT completed_steps + denied_steps + failed_steps FROM runs WHERE run_id = ${run_id}),
      coalesce((SELECT max(seq) FROM steps WHERE run_id = ${run_id}), 0),
      coalesce((SELECT json_object_agg(tool_id, n) FROM (
        SELECT tool_id, count(*) AS n FROM invocation_states WHERE run_id = ${run_id} AND status <> 'denied' GROUP BY tool_id) AS called), '{}'),
      ${kept}
    FROM plan_runs WHERE run_id = ${of.run_id}`.execute(db);
}
