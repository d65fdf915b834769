import type { Relay } from '@capstan/queue';

/** Delay before a retry if Postgres is unavailable or has no tables yet. */
const RETRY_MS = 1000;

/** `signals` announce changes; `every_ms` covers lost ones. */
export type Freshness = { signals: readonly string[]; every_ms: number };

/** Refreshes now, on signals and periodically until closed. A failed refresh keeps the old data and is retried soon. */
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
    // Changes made before it listened, or during an interruption.
    () => void follow(),
  );
  await follow();
  return () => {
    closed = true;
    clearTimeout(timer);
    unsubscribe();
  };
}
