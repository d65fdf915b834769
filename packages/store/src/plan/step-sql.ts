/** The id of a step's invocation, as stepInvocationId writes it. */
export const invocationIdOf = (steps: string): string =>
  `'inv_' || substr(${steps}.run_id, 5) || '-' || ${steps}.step
    || CASE WHEN ${steps}.element >= 0 THEN '-' || ${steps}.element ELSE '' END`;

/** Nobody knows whether it took effect. A step waits for somebody to say so, but not for ever. */
export const UNRESOLVED = `i.status = 'ambiguous' AND i.finished_at > now() - interval '7 days'`;

export const TERMINAL = `('denied', 'succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'rejected', 'expired')`;
