export type Backoff = { first_ms: number; most_ms: number; give_up_ms: number };

/** About 20 attempts in a day, close together at first. */
export const DAY_OF_RETRIES: Backoff = { first_ms: 5_000, most_ms: 2 * 3_600_000, give_up_ms: 86_400_000 };

/** Doubles with each attempt; somewhere in its upper half, so that what failed together is not sent together again. */
export function backoffAfter(attempts: number, { first_ms, most_ms }: Backoff, random = Math.random): number {
  const full = Math.min(most_ms, first_ms * 2 ** Math.min(attempts - 1, 30));
  return Math.round(full / 2 + (full / 2) * random());
}
