import { DAY_MS, HOUR_MS } from '@capstan/contracts';
export type Backoff = { first_ms: number; most_ms: number; give_up_ms: number };

/** About 20 attempts in one day, close together at first. */
export const DAY_OF_RETRIES: Backoff = { first_ms: 5_000, most_ms: 2 * HOUR_MS, give_up_ms: DAY_MS };

/** Doubles with each attempt. Random within the upper half, so that deliveries that failed together are not retried together. */
export function backoffAfter(attempts: number, { first_ms, most_ms }: Backoff, random = Math.random): number {
  const full = Math.min(most_ms, first_ms * 2 ** Math.min(attempts - 1, 30));
  return Math.round(full / 2 + (full / 2) * random());
}
