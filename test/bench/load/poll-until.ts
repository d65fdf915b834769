import { setInterval } from 'node:timers/promises';

export interface PollUntil {
  readonly every_ms: number;
  readonly within_ms: number;
  readonly what: string;
}

/** Polls a condition in another process; across HTTP there is no signal to wait for. */
export async function pollUntil(
  passed: () => Promise<boolean>,
  { every_ms, within_ms, what }: PollUntil,
): Promise<void> {
  const deadline = performance.now() + within_ms;
  if (await passed()) return;
  for await (const _ of setInterval(every_ms)) {
    if (await passed()) return;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${within_ms / 1000} s`);
  }
}
