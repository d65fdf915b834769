import { setInterval } from 'node:timers/promises';

export interface PollUntil {
  readonly every_ms: number;
  readonly within_ms: number;
  readonly what: string;
}

/** Asks again and again whether something in another process has come to pass; there is no signal to wait for across HTTP. */
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
