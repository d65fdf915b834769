import { Failure } from '@capstan/contracts';

export type GroupCommit<Item, Outcome> = ((item: Item) => Promise<Outcome>) & {
  /** Resolves when everything handed over so far is written or refused. */
  idle(): Promise<void>;
};

type Options<Item, Outcome> = {
  /** Writes all items at once and answers one outcome for each, in order. */
  write(items: Item[]): Promise<Outcome[]>;
  /**
   * While callers are many (the last write had company), how long the next write waits for more of them. Each write costs
   * the processes it wakes far more than it costs per item. A lone caller never waits.
   */
  linger_ms?: number;
  max_batch: number;
  max_waiting: number;
  /** Whether a failed batch is tried again item by item, so that one bad item does not fail its neighbours. */
  isolate(error: unknown): boolean;
};

type Waiting<Item, Outcome> = { item: Item; resolve(outcome: Outcome): void; reject(error: unknown): void };

/**
 * Concurrent callers share one write. An idle committer writes at once, and what arrives during a write goes together in
 * the next.
 */
export function groupCommit<Item, Outcome>(options: Options<Item, Outcome>): GroupCommit<Item, Outcome> {
  let waiting: Waiting<Item, Outcome>[] = [];
  let busy = false;
  let company = false;
  let handed = 0;
  let done = 0;
  let idlers: { until: number; resolve(): void }[] = [];

  const writeNext = async () => {
    const batch = waiting.slice(0, options.max_batch);
    waiting = waiting.slice(options.max_batch);
    company = batch.length > 1;
    await writeBatch(batch, options);
    done += batch.length;
    for (const idler of idlers) if (idler.until <= done) idler.resolve();
    idlers = idlers.filter((idler) => idler.until > done);
    busy = waiting.length > 0;
    if (busy) setImmediate(writeNext);
  };

  const commit = (item: Item) =>
    new Promise<Outcome>((resolve, reject) => {
      if (waiting.length >= options.max_waiting) {
        reject(new Failure('OVERLOADED', { detail: `${waiting.length} writes are waiting.` }));
        return;
      }
      waiting.push({ item, resolve, reject });
      handed++;
      if (busy) return;
      busy = true;
      if (company && options.linger_ms) setTimeout(writeNext, options.linger_ms);
      // Lets every request of this turn of the event loop join; it is not a delay.
      else setImmediate(writeNext);
    });
  const idle = () =>
    new Promise<void>((resolve) => {
      if (done === handed) resolve();
      else idlers.push({ until: handed, resolve });
    });
  return Object.assign(commit, { idle });
}

async function writeBatch<Item, Outcome>(batch: Waiting<Item, Outcome>[], options: Options<Item, Outcome>) {
  try {
    const outcomes = await options.write(batch.map(({ item }) => item));
    batch.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) reject(new Error('a group commit answered fewer outcomes than items'));
      else resolve(outcome);
    });
  } catch (error) {
    if (batch.length > 1 && options.isolate(error)) {
      for (const one of batch) await writeBatch([one], options);
      return;
    }
    for (const { reject } of batch) reject(error);
  }
}
