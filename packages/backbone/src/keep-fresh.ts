import type { Relay } from '@capstan/queue';

/** When Postgres was away, or has no tables yet. */
const RETRY_MS = 1000;

/** `signals` tell of changes; `every_ms` is for one that was lost all the same. */
export type Freshness = { signals: readonly string[]; every_ms: number };

/** Looks now and again and again, until it is closed. A look that failed leaves what was known, and is repeated soon. */
export async function keepFresh(
  relay: Relay,
  { signals, every_ms }: Freshness,
  look: () => Promise<void>,
): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const follow = async (): Promise<void> => {
    const next_ms = await look().then(
      () => every_ms,
      () => RETRY_MS,
    );
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void follow(), next_ms).unref();
  };
  const unsubscribe = relay.subscribe(
    'refresh',
    (what) => {
      if (signals.some((signal) => what.includes(signal))) void follow();
    },
    // What was changed before anybody listened, or while nobody could.
    () => void follow(),
  );
  await follow();
  return () => {
    closed = true;
    clearTimeout(timer);
    unsubscribe();
  };
}
