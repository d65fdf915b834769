import { Failure } from '@capstan/contracts';

export type GroupCommit<Item, Outcome> = ((item: Item) => Promise<Outcome>) & {
  /** Resolves when every item passed in so far has been written or rejected. */
  idle(): Promise<void>;
  /** How long the oldest item has waited for its write to start. */
  waited_ms(): number;
};

type Options<Item, Outcome> = {
  /** Writes all items at once and returns one outcome for each, in order. */
  write(items: Item[]): Promise<Outcome[]>;
  /**
   * How long an item may wait for others to share its write; the shortest time in the batch decides. A write costs the
   * processes that it wakes far more than an additional item does. `company`: the last write had several items, so there are
   * many callers at the moment. `gathered`: how many items wait by now, this one included.
   */
  patience_ms?(item: Item, company: boolean, gathered: number): number;
  max_batch: number;
  max_waiting: number;
  /** Whether a failed batch is retried item by item, so that a bad item does not fail the others. */
  isolate(error: unknown): boolean;
};

type Waiting<Item, Outcome> = {
  item: Item;
  since: number;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

/** Combines the items of concurrent callers in one write. An idle committer writes at once; items that arrive during a write share the next. */
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
    // Timers have a resolution of one millisecond.
    busy = ms < 1;
    // Not a delay: lets every request of this turn of the event loop join.
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
      if (!busy) beginWithin(options.patience_ms?.(item, company, waiting.length) ?? 0);
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
