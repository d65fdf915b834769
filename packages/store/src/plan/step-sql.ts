/** The id of a step's invocation, as stepInvocationId writes it. */
export const invocationIdOf = (steps: string): string =>
  `'inv_' || substr(${steps}.run_id, 5) || '-' || ${steps}.step
    || CASE WHEN ${steps}.element >= 0 THEN '-' || ${steps}.element ELSE '' END`;

/** Nobody knows whether it took effect. A step waits for somebody to say so, but not for ever. */
export const UNRESOLVED = `i.status = 'ambiguous' AND i.finished_at > now() - interval '7 days'`;

export const TERMINAL = `('denied', 'succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'rejected', 'expired')`;

/**
 * Names steps themselves, not elements of them. A written-out `element = -1` next to a join is an offer to the planner: while
 * the table is small it takes every step there is and compares it with every row, and keeps to that when the table is large
 * (200 ms for a thousand steps). As a column, behind OFFSET 0 so that it stays one, it leaves the lookup by the whole key.
 */
export const wholeSteps = (rows: string): string => `(SELECT *, -1 AS element FROM ${rows} OFFSET 0)`;
