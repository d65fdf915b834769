import type { RunnerType } from '@capstan/contracts';
import { type Delivery, onReceipt, openFlow, type Queue, type Relay } from '@capstan/queue';
import type { HandOver, NewInvocation } from '@capstan/store';
import { nanoid } from 'nanoid';
import { type Dispatcher, mayBeHandedOver, openWaker, type Plan } from './hand-over.js';
import type { Log } from './log.js';

/** More than this at once waits in Postgres, and is fed to Redis as workers need it. */
const MAX_DIRECT = 200;

/**
 * Calls get receipts that nobody owns with their commit, and BullMQ brings those to a worker. While others wait, they wait
 * with them. What is committed and not delivered, because this process died or Redis was away, the coordinator delivers.
 */
export function redisDispatcher({ queue, relay, log }: { queue: Queue; relay: Relay; log: Log }): Dispatcher {
  const flow = openFlow(relay);
  const waker = openWaker(relay);
  const delivering = new Set<Promise<void>>();
  const deliver = (deliveries: Delivery[]) => {
    const delivered = queue
      .deliver(deliveries)
      .catch((error: unknown) => log.warn({ err: error }, 'Redis cannot be reached; the coordinator will deliver'))
      .finally(() => delivering.delete(delivered));
    delivering.add(delivered);
  };
  return {
    plan: (rows) => {
      const left: RunnerType[] = [];
      const receipts = rows.length <= MAX_DIRECT ? assign(rows, flow.isOpen, left) : [];
      if (rows.length > MAX_DIRECT) left.push(...rows.filter(isQueued).map(({ runner }) => runner));
      const waiting = [...new Set(left)];
      for (const runner of waiting) flow.shut(runner);
      return {
        hand_over: receipts.map(({ receipt }) => receipt),
        signals: [],
        committed: (handed) => {
          const written = receipts.filter(({ receipt }) => handed.includes(receipt.claim_id));
          if (written.length > 0) deliver(written.map(({ delivery }) => delivery));
          relay.publish('ready', written.length < receipts.length ? runnersOf(rows) : waiting);
        },
      } satisfies Plan;
    },
    ...waker,
    idle: async () => {
      await Promise.all(delivering);
    },
    close: () => {
      waker.close();
      flow.close();
    },
  };
}

const isQueued = ({ status }: NewInvocation): boolean => status === 'queued';
const runnersOf = (rows: readonly NewInvocation[]): RunnerType[] => [
  ...new Set(rows.filter(isQueued).map(({ runner }) => runner)),
];

type Open = { receipt: HandOver; delivery: Delivery };

function assign(rows: readonly NewInvocation[], isOpen: (runner: RunnerType) => boolean, left: RunnerType[]): Open[] {
  const all: Open[] = [];
  const open = new Map<string, Open>();
  for (const row of rows.filter(isQueued)) {
    const { runner, priority } = row;
    if (!mayBeHandedOver(row) || !isOpen(runner)) {
      left.push(runner);
      continue;
    }
    const key = `${runner} ${priority}`;
    let into = open.get(key);
    if (!into || into.receipt.ids.length >= onReceipt(runner)) {
      const claim_id = `clm_${nanoid()}`;
      into = {
        receipt: { claim_id, runner, worker_id: null, owned: false, ids: [] },
        delivery: { claim_id, runner, size: 0, priority, ahead: false },
      };
      open.set(key, into);
      all.push(into);
    }
    into.receipt.ids.push(row.invocation_id);
    into.delivery.size += 1;
  }
  return all;
}
