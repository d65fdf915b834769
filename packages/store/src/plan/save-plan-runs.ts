import type { RunStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';
import { notify } from '../signal/channel.js';
import { MOVE, moveValues, type StepMove } from './move-steps.js';

/** The changes of a run in one turn of the engine. */
export type SavedRun = {
  run_id: string;
  active: boolean;
  stopping: 'failed' | 'canceled' | null;
  dropped: boolean;
  /** Whether there are ready steps that were not started. */
  waiting: boolean;
  live: number;
  unended: number;
  ended: number;
  seq: number;
  calls: Record<string, number>;
  status: RunStatus;
  reason: string | null;
  /** Whether the run itself changes: its status, reason or counts. */
  told: boolean;
  /** Changes of the run's counts, in addition to those by settlements. */
  more: {
    total: number;
    live: number;
    completed: number;
    denied: number;
    failed: number;
    canceled: number;
    skipped: number;
  };
};

const SAVE: Statement = {
  name: 'save-plan-runs',
  text: `
    WITH moved AS (${MOVE}
    ), saved AS (
      SELECT * FROM json_to_recordset($11::json) AS s (run_id text, active boolean, stopping text, dropped boolean, waiting boolean,
        live int, unended int, ended int, seq int, calls json, status text, reason text, told boolean, total int, live_steps int, completed int,
        denied int, failed int, canceled int, skipped int)
      ORDER BY run_id
    ), kept AS (
      UPDATE plan_runs p SET active = s.active, stopping = s.stopping, dropped = s.dropped, waiting = s.waiting,
        live = s.live, unended = s.unended, ended = s.ended, seq = s.seq, calls = s.calls
      FROM saved s WHERE p.run_id = s.run_id
    ), told AS (
      -- The end of a run, where somebody is told of it.
      INSERT INTO events (event_id, tenant, type, subject, data, url)
      SELECT s.run_id || '.' || s.status, p.tenant, 'run.' || s.status, s.run_id, json_build_object('run_id', s.run_id,
        'kind', 'plan', 'status', s.status, 'plan_hash', p.plan_hash, 'actor', p.actor, 'reason', s.reason), p.webhook_url
      FROM saved s JOIN plan_runs p ON p.run_id = s.run_id
      WHERE NOT s.active AND s.status IN ('completed', 'failed', 'canceled')
        AND (p.webhook_url IS NOT NULL OR EXISTS (SELECT FROM webhooks w WHERE w.tenant = p.tenant AND w.enabled))
      ON CONFLICT (event_id) DO NOTHING
    ), counted AS (
      UPDATE runs r SET total_steps = r.total_steps + s.total, live_steps = r.live_steps + s.live_steps,
        completed_steps = r.completed_steps + s.completed, denied_steps = r.denied_steps + s.denied,
        failed_steps = r.failed_steps + s.failed, canceled_steps = r.canceled_steps + s.canceled,
        skipped_steps = r.skipped_steps + s.skipped, status = s.status, reason = coalesce(r.reason, s.reason),
        -- Not the start of the turn, which may be long ago.
        finished_at = CASE WHEN s.active THEN r.finished_at ELSE clock_timestamp() END
      FROM saved s WHERE r.run_id = s.run_id AND s.told
    )
    SELECT count(${notify('signal')}) FROM unnest($12::text[]) AS signal`,
};

/**
 * Called last in its transaction: if the run itself changes, settlements of its steps wait from here to the commit. Most turns do not
 * change it.
 */
export async function savePlanRuns(
  query: Query,
  saved: readonly SavedRun[],
  moves: readonly StepMove[],
  /** Sent to every process when the turn is committed. */
  signals: readonly string[],
): Promise<void> {
  if (saved.length === 0) return;
  const rows = saved.map(({ more, ...run }) => ({ ...run, ...more, live_steps: more.live, live: run.live }));
  await query(SAVE, [...moveValues(moves), JSON.stringify(rows), signals]);
}
