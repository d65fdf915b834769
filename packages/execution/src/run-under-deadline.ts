import type { RunOutcome } from '@capstan/runners';
import type { Running } from './running.js';

/** How long a runner may take to stop its tool before the worker goes on without it. */
const STOP_GRACE_MS = 5000;

/**
 * Runs until the tool ends, the deadline passes or it is told to stop. A tool that ends at once costs no timer. Null when
 * a runner did not come back after it was told to stop.
 */
export async function runUnderDeadline(
  running: Running,
  timeout_ms: number,
  run: () => RunOutcome | Promise<RunOutcome>,
): Promise<RunOutcome | null> {
  const outcome = run();
  if (!(outcome instanceof Promise)) return outcome;
  const deadline = setTimeout(() => running.stop('timeout'), timeout_ms);
  let grace: NodeJS.Timeout | undefined;
  const givenUp = new Promise<null>((resolve) => {
    running.onStop(() => {
      grace = setTimeout(() => resolve(null), STOP_GRACE_MS);
    });
  });
  try {
    return await Promise.race([outcome, givenUp]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
  }
}
