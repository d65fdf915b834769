import { Failure } from '@capstan/contracts';

export type GroupCommit<Item, Outcome> = ((item: Item) => Promise<Outcome>) & {
  /** Resolves when everything handed over so far is written or refused. */
  idle(): Promise<void>;
  /** How long the item has waited that has waited longest for its write to begin. */
  waited_ms(): number;
};

type Options<Item, Outcome> = {
  /** Writes all items at once and answers one outcome for each, in order. */
  write(items: Item[]): Promise<Outcome[]>;
  /**
   * How long an item may wait for others to share its write; the least patient decides. Each write costs the processes that
   * it wakes far more than it costs per item. `company`: the last write was shared, so callers are many at the moment.
   */
  patience_ms?(item: Item, company: boolean): number;
  max_batch: number;
  max_waiting: number;
  /** Whether a failed batch is tried again item by item, so that one bad item does not fail its neighbours. */
  isolate(error: unknown): boolean;
};

type Waiting<Item, Outcome> = {
  item: Item;
  since: number;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

/**
 * Concurrent callers share one write. An idle committer writes at once, and what arrives during a write goes together in
 * the next.
 */
export function groupCommit<Item, Outcome>(options: Options<Item, Outcome>): GroupCommit<Item, Outcome> {
  let waiting: Waiting<Item, Outcome>[] = [];
  let busy = false;
  let company = false;
  let timer: NodeJS.Timeout | undefined;
  let begins = Number.POSITIVE_INFINITY;
  let handed = 0;
  let done = 0;
  let idlers: { until: number; resolve(): void }[] = [];

  const writeNext = async () => {
    clearTimeout(timer);
    begins = Number.POSITIVE_INFINITY;
    busy = true;
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

  const beginWithin = (ms: number) => {
    const latest = performance.now() + ms;
    if (latest >= begins) return;
    clearTimeout(timer);
    begins = latest;
    // Timers count in whole milliseconds.
    busy = ms < 1;
    // Lets every request of this turn of the event loop join; it is not a delay.
    if (busy) setImmediate(writeNext);
    else timer = setTimeout(writeNext, ms);
  };

  const commit = (item: Item) =>
    new Promise<Outcome>((resolve, reject) => {
      if (waiting.length >= options.max_waiting) {
        reject(new Failure('OVERLOADED', { detail: `${waiting.length} writes are waiting.` }));
        return;
      }
      waiting.push({ item, since: performance.now(), resolve, reject });
      handed++;
      if (!busy) beginWithin(options.patience_ms?.(item, company) ?? 0);
    });
  const idle = () =>
    new Promise<void>((resolve) => {
      if (done === handed) resolve();
      else idlers.push({ until: handed, resolve });
    });
  const waited_ms = () => (waiting[0] ? performance.now() - waiting[0].since : 0);
  return Object.assign(commit, { idle, waited_ms });
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
