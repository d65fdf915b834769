import { type RawBuilder, sql } from 'kysely';

/** The id of a step's invocation, as stepInvocationId writes it. */
export const invocationIdOf = (steps: string): string =>
  `'inv_' || substr(${steps}.run_id, 5) || '-' || ${steps}.step
    || CASE WHEN ${steps}.element >= 0 THEN '-' || ${steps}.element ELSE '' END`;

/** A condition on a result `e`: it is ambiguous. A step waits for a person to resolve it, but only for 7 days. */
export const UNRESOLVED = `e.status = 'ambiguous' AND e.finished_at > now() - interval '7 days'`;

/**
 * Selects steps themselves, not their elements. With a literal `element = -1` next to a join, the planner compares every step with
 * every row while the table is small, and keeps that plan when it is large (200 ms for a thousand steps). As a column, which OFFSET 0
 * prevents the planner from inlining, it leaves only the lookup by the whole key.
 */
export const wholeSteps = (rows: string): string => `(SELECT *, -1 AS element FROM ${rows} OFFSET 0)`;

/**
 * The steps of an active run that have not moved yet, in the order of the plan. They have no rows; their names are stored with the
 * run.
 */
export function unmovedSteps(run_id: string, after = -1): RawBuilder<unknown> {
  const planned = (column: string) =>
    sql`(SELECT ${sql.ref(column)} FROM plan_runs WHERE run_id = ${run_id} AND active)`;
  // The arrays are in the order of the plan, and steps are looked up one by one, so the search stops when the page is full.
  return sql`
    SELECT ${run_id}::text AS run_id, (u.place - 1)::int AS step, -1 AS element, u.step_id, u.name, u.tool_id
    FROM unnest(${planned('step_ids')}, ${planned('step_names')}, ${planned('step_tools')})
      WITH ORDINALITY AS u (step_id, name, tool_id, place)
    WHERE u.place > ${after}::int + 1
      AND (SELECT s.step FROM steps s WHERE s.run_id = ${run_id} AND s.step = u.place - 1 AND s.element = -1) IS NULL`;
}
