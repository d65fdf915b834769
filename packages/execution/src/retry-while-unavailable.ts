import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '@capstan/store';

const RETRY_MS = 250;

/** Repeats `work` while Postgres is unavailable and `mayRetry` allows it. Any other error is thrown at once. */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  mayRetry: (tries: number) => boolean,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || !mayRetry(tries)) throw error;
      await delay(RETRY_MS);
    }
  }
}
