import { type RawBuilder, sql } from 'kysely';

/** The id of a step's invocation, as stepInvocationId writes it. */
export const invocationIdOf = (steps: string): string =>
  `'inv_' || substr(${steps}.run_id, 5) || '-' || ${steps}.step
    || CASE WHEN ${steps}.element >= 0 THEN '-' || ${steps}.element ELSE '' END`;

/** Of a result `e`: nobody knows whether it took effect. A step waits for somebody to say so, but not for ever. */
export const UNRESOLVED = `e.status = 'ambiguous' AND e.finished_at > now() - interval '7 days'`;

/**
 * Names steps themselves, not elements of them. A written-out `element = -1` next to a join is an offer to the planner: while
 * the table is small it takes every step there is and compares it with every row, and keeps to that when the table is large
 * (200 ms for a thousand steps). As a column, behind OFFSET 0 so that it stays one, it leaves the lookup by the whole key.
 */
export const wholeSteps = (rows: string): string => `(SELECT *, -1 AS element FROM ${rows} OFFSET 0)`;

/**
 * The steps of a run that is not over and that have not moved, in the order of the plan. They have no row: what they are called
 * stands with the run.
 */
export function unmovedSteps(run_id: string, after = -1): RawBuilder<unknown> {
  const planned = (column: string) =>
    sql`(SELECT ${sql.ref(column)} FROM plan_runs WHERE run_id = ${run_id} AND active)`;
  // The list itself is in the order of the plan; looked up one by one, a page of it ends the search.
  return sql`
    SELECT ${run_id}::text AS run_id, (u.place - 1)::int AS step, -1 AS element, u.step_id, u.name, u.tool_id
    FROM unnest(${planned('step_ids')}, ${planned('step_names')}, ${planned('step_tools')})
      WITH ORDINALITY AS u (step_id, name, tool_id, place)
    WHERE u.place > ${after}::int + 1
      AND (SELECT s.step FROM steps s WHERE s.run_id = ${run_id} AND s.step = u.place - 1 AND s.element = -1) IS NULL`;
}
