import type { Queue } from '@capstan/queue';
import { type BoxedDeliveries, type Store, unboxDeliveries } from '@capstan/store';
import type { Log } from './log.js';

/** Less than after what time the outbox is looked through for what was not handed over. */
const UNBOX_MS = 500;

export type Dispatched = Omit<BoxedDeliveries, 'outbox_id'> & { outbox_id: string | null };

export type Dispatcher = {
  /** Hands over to the queue what is committed, boxed where the queue could lose it: if this fails, the box is found again. */
  dispatch(box: Dispatched): void;
  /** Boxes that have been handed over since, for the next insert to drop; soon they are dropped anyway. */
  takeDelivered(): string[];
  /** Resolves when all has been handed over, and no box is left. */
  idle(): Promise<void>;
};

export function createDispatcher({ store, queue, log }: { store: Store; queue: Queue; log: Log }): Dispatcher {
  const handingOver = new Set<Promise<void>>();
  const delivered: string[] = [];
  let unboxing: NodeJS.Timeout | null = null;

  const unbox = async () => {
    unboxing = null;
    await unboxDeliveries(store.db, delivered.splice(0)).catch(() => {});
  };
  const handOver = async ({ outbox_id, deliveries }: Dispatched) => {
    await queue.enqueue(deliveries);
    if (outbox_id === null) return;
    delivered.push(outbox_id);
    unboxing ??= setTimeout(unbox, UNBOX_MS);
  };

  return {
    dispatch: (box) => {
      const handing = handOver(box)
        .catch((error: unknown) => log.warn({ err: error }, 'the queue cannot be reached; the outbox keeps the work'))
        .finally(() => handingOver.delete(handing));
      handingOver.add(handing);
    },
    takeDelivered: () => delivered.splice(0),
    idle: async () => {
      await Promise.all(handingOver);
      if (unboxing) clearTimeout(unboxing);
      await unbox();
    },
  };
}
