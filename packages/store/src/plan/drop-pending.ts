import type { Query, Statement } from '../open-store.js';
import { invocationIdOf } from './step-sql.js';

export type ToDrop = { run_id: string; status: 'skipped' | 'canceled'; reason: string; seq: number };
/** `begun` are under way, and not dropped: elements of `step`, or -1 for itself. */
export type Dropped = { run_id: string; step: number; of_elements: boolean; count: number; begun: number[] };

const DROP: Statement = {
  name: 'drop-pending',
  text: `
    WITH pending AS (
      SELECT s.run_id, s.step, s.element, d.status, d.reason, i.invocation_id IS NOT NULL AS begun,
        d.seq + row_number() OVER (PARTITION BY s.run_id ORDER BY s.step, s.element) AS seq
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) AS d (run_id, status, reason, seq)
        JOIN steps s ON s.run_id = d.run_id AND s.status = 'pending'
        LEFT JOIN invocations i ON i.invocation_id = ${invocationIdOf('s')}
    ), dropped AS (
      UPDATE steps s SET status = CASE WHEN p.begun THEN 'started' ELSE p.status END, has_invocation = p.begun,
        reason = CASE WHEN NOT p.begun THEN p.reason END, seq = p.seq
      FROM pending p WHERE s.run_id = p.run_id AND s.step = p.step AND s.element = p.element
      RETURNING s.run_id, s.step, s.element, p.begun
    )
    SELECT run_id, step, element >= 0 AS of_elements, (count(*) FILTER (WHERE NOT begun))::int AS count,
      coalesce(array_agg(element) FILTER (WHERE begun), '{}') AS begun
    FROM dropped GROUP BY 1, 2, 3`,
};

/**
 * All that has not been started will not be. Calls are committed ahead of the turn that starts them: what a turn that was
 * lost had begun is started by this.
 */
export const dropPending = async (query: Query, runs: readonly ToDrop[]): Promise<Dropped[]> =>
  runs.length === 0
    ? []
    : query<Dropped>(DROP, [
        runs.map((one) => one.run_id),
        runs.map((one) => one.status),
        runs.map((one) => one.reason),
        runs.map((one) => one.seq),
      ]);
