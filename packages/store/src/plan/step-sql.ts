/** The id of a step's invocation, as stepInvocationId writes it. */
export const invocationIdOf = (steps: string): string =>
  `'inv_' || substr(${steps}.run_id, 5) || '-' || ${steps}.step
    || CASE WHEN ${steps}.element >= 0 THEN '-' || ${steps}.element ELSE '' END`;

export const TERMINAL = `('denied', 'succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'rejected', 'expired')`;
