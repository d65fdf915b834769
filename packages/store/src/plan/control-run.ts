import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';
import { invocationIdOf, unmovedSteps } from './step-sql.js';

export type RunControl = 'pause' | 'resume' | 'cancel';

const CHANGES = {
  pause: { set: sql`paused = true`, where: sql`NOT paused AND stopping IS NULL`, status: 'paused' },
  resume: { set: sql`paused = false`, where: sql`paused AND stopping IS NULL`, status: 'running' },
  cancel: {
    set: sql`stopping = 'canceled', paused = false`,
    where: sql`stopping IS DISTINCT FROM 'canceled'`,
    status: 'running',
  },
} as const;

/** Waits until the engine is done with its current turn of this run. False if the run is already in that state or cannot get there. */
export async function controlPlanRun(
  store: Store,
  principal: Principal,
  run_id: string,
  control: RunControl,
): Promise<boolean> {
  const { set, where, status } = CHANGES[control];
  return store.db.transaction().execute(async (db) => {
    const { rows } = await sql`
      UPDATE plan_runs SET ${set} WHERE run_id = ${run_id} AND tenant = ${principal.tenant} AND active AND ${where}
      RETURNING run_id`.execute(db);
    if (rows.length === 0) return false;
    await db.updateTable('runs').set({ status }).where('run_id', '=', run_id).execute();
    await appendAudit(db, [
      { tenant: principal.tenant, actor: principal.actor, event: `run.${control}`, subject: run_id },
    ]);
    return true;
  });
}

/** Stops a run that the engine cannot continue. Running calls finish; no more are started. */
export async function stopPlanRun(store: Store, run_id: string, reason: string): Promise<void> {
  const told = reason.slice(0, 1000).toWellFormed().replaceAll('\u0000', '\ufffd');
  await store.db.transaction().execute(async (db) => {
    await sql`SELECT FROM plan_runs WHERE run_id = ${run_id} FOR UPDATE`.execute(db);
    await sql`
      INSERT INTO steps (run_id, step, element, step_id, name, tool_id, status, has_invocation, reason)
      SELECT s.run_id, s.step, s.element, s.step_id, s.name, s.tool_id, CASE WHEN begun THEN 'started' ELSE 'skipped' END, begun,
        CASE WHEN NOT begun THEN ${told} END
      FROM (
        ${unmovedSteps(run_id)}
        UNION ALL
        SELECT run_id, step, element, step_id, name, tool_id FROM steps WHERE run_id = ${run_id} AND status = 'pending'
      ) AS s, LATERAL (SELECT EXISTS (
        SELECT FROM invocations WHERE invocation_id = ${sql.raw(invocationIdOf('s'))}) AS begun) AS b
      ON CONFLICT (run_id, step, element) DO UPDATE
        SET status = excluded.status, has_invocation = excluded.has_invocation, reason = excluded.reason`.execute(db);
    await sql`UPDATE plan_runs SET active = false, stopping = coalesce(stopping, 'failed')
      WHERE run_id = ${run_id} AND active`.execute(db);
    await sql`UPDATE runs SET status = 'failed', reason = coalesce(reason, ${told}), live_steps = live_steps - 1,
      finished_at = now() WHERE run_id = ${run_id} AND finished_at IS NULL`.execute(db);
  });
}
