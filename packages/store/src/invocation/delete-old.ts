import { TERMINAL_STATUSES } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Store } from '../open-store.js';

/** Retention: forgets invocations that ended longer than `age_ms` ago, with all that hangs on them. */
export async function deleteOldInvocations(store: Store, age_ms: number, limit: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    WITH old AS (
      SELECT invocation_id FROM invocations
      WHERE created_at < now() - ${age_ms} * interval '1 millisecond'
        AND finished_at < now() - ${age_ms} * interval '1 millisecond'
        AND status = ANY (${[...TERMINAL_STATUSES]})
      LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), dropped AS (DELETE FROM invocations i USING old WHERE i.invocation_id = old.invocation_id RETURNING i.invocation_id),
    l AS (DELETE FROM logs USING dropped d WHERE logs.invocation_id = d.invocation_id),
    a AS (DELETE FROM attempts USING dropped d WHERE attempts.invocation_id = d.invocation_id),
    n AS (DELETE FROM artifact_names USING dropped d WHERE artifact_names.invocation_id = d.invocation_id),
    h AS (DELETE FROM holds USING dropped d WHERE holds.invocation_id = d.invocation_id RETURNING hold_id),
    e AS (DELETE FROM hold_entries USING h WHERE hold_entries.hold_id = h.hold_id),
    sl AS (DELETE FROM seal_links USING dropped d WHERE seal_links.run_id = 'run_' || substr(d.invocation_id, 5)),
    se AS (DELETE FROM seals USING dropped d WHERE seals.run_id = 'run_' || substr(d.invocation_id, 5)),
    r AS (DELETE FROM results USING dropped d WHERE results.invocation_id = d.invocation_id)
    SELECT count(*)::int AS deleted FROM dropped`.execute(store.db);
  await sql`
    WITH gone AS (
      DELETE FROM runs r WHERE r.created_at < now() - ${age_ms} * interval '1 millisecond'
        AND r.finished_at < now() - ${age_ms} * interval '1 millisecond'
        AND NOT EXISTS (SELECT FROM invocations i WHERE i.run_id = r.run_id)
      RETURNING run_id
    ), p AS (DELETE FROM plan_runs USING gone WHERE plan_runs.run_id = gone.run_id),
    sl AS (DELETE FROM seal_links USING gone WHERE seal_links.run_id = gone.run_id),
    se AS (DELETE FROM seals USING gone WHERE seals.run_id = gone.run_id)
    DELETE FROM steps USING gone WHERE steps.run_id = gone.run_id`.execute(store.db);
  await sql`DELETE FROM schedule_fires WHERE fire_at < now() - ${age_ms} * interval '1 millisecond'
    AND outcome <> 'queued'`.execute(store.db);
  return rows[0]?.deleted ?? 0;
}
