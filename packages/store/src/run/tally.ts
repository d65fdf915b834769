import type { InvocationStatus } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

const CLASSES = {
  live_steps: ['held', 'deferred', 'queued', 'running'],
  completed_steps: ['succeeded'],
  denied_steps: ['denied', 'rejected'],
  failed_steps: ['failed', 'timed_out', 'expired', 'ambiguous'],
  canceled_steps: ['canceled'],
} as const satisfies Record<string, InvocationStatus[]>;
type Class = keyof typeof CLASSES;
export const STEP_COUNTS = [
  'live_steps',
  'completed_steps',
  'denied_steps',
  'failed_steps',
  'canceled_steps',
] as const satisfies Class[];

const among = (column: string, counted: Class) =>
  `${column} IN (${CLASSES[counted].map((status) => `'${status}'`).join(', ')})`;

/** SQL: how many of `rows` belong to a class. */
export const countOf = (rows: string, counted: Class) =>
  `(SELECT count(*) FILTER (WHERE ${among('status', counted)}) FROM ${rows})`;

/**
 * Updates the counts of runs in the statement (or transaction) that moves their steps, so that the counts are always right. `moved`
 * selects run_id, the previous status of each step (`was`), and the new one. Runs are locked in order, so that two statements that share
 * several runs do not deadlock. The end time is the current time, not that of the statement's start, because the update may have waited
 * for others to count.
 */
export const tally = (moved: string) => `
  UPDATE runs r SET
    ${STEP_COUNTS.map((one) => `${one} = r.${one} + t.${one}`).join(',\n    ')},
    finished_at = CASE WHEN r.live_steps + t.live_steps = 0 THEN clock_timestamp() END
  FROM (
    SELECT run_id,
      ${STEP_COUNTS.map(
        (one) => `(sum((${among('status', one)})::int - (${among('was', one)})::int))::int AS ${one}`,
      ).join(',\n      ')}
    FROM (${moved}) AS moved GROUP BY run_id ORDER BY run_id
  ) t
  WHERE r.run_id = ANY (ARRAY (SELECT run_id FROM (${moved}) AS moved)) AND r.run_id = t.run_id`;

/** The same for steps of one run that all end the same way; `run_id`, `status` and `count` are expressions. */
export const tallyAlike = (run_id: string, status: string, count: string) => `
  UPDATE runs r SET
    ${STEP_COUNTS.filter((one) => one !== 'live_steps')
      .map((one) => `${one} = r.${one} + CASE WHEN ${among(status, one)} THEN ${count} ELSE 0 END`)
      .join(',\n    ')},
    live_steps = r.live_steps - ${count},
    finished_at = CASE WHEN r.live_steps - ${count} = 0 THEN clock_timestamp() END
  WHERE r.run_id = ${run_id}`;

type Moved = { run_id: string | null; status: InvocationStatus };

export async function tallyRuns(db: Db, rows: Moved[], was: InvocationStatus): Promise<void> {
  const moved = rows.flatMap(({ run_id, status }) => (run_id === null ? [] : [{ run_id, status }]));
  if (moved.length === 0) return;
  await sql`
    WITH moved AS (
      SELECT run_id, ${was}::text AS was, status
      FROM json_to_recordset(${JSON.stringify(moved)}::json) AS m (run_id text, status text)
    ) ${sql.raw(tally('SELECT * FROM moved'))}`.execute(db);
}
