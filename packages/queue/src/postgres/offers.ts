import { isQueueName, type QueueName } from '@capstan/contracts';
import type { Relay } from '../relay/relay.js';

/** What a worker offers is believed for so long; it repeats it with every heartbeat and every settlement. */
const BELIEVED_MS = 6000;

type Offer = { worker_id: string; room: number; at: number };

/** What workers offer to take, as this process knows it. */
export type Offers = {
  /** The worker that offers most for a runner type, and how much; the caller takes it with `use`. */
  best(runner: QueueName): { worker_id: string; room: number } | null;
  use(runner: QueueName, worker_id: string, count: number): void;
  close(): void;
};

export const offerOf = (worker_id: string, runner: QueueName, room: number): string => `${worker_id}/${runner}/${room}`;

/** The name of a queue may have a slash. */
const OFFER = /^([^/]*)\/(.*)\/(\d+)$/;

/**
 * Several gateways may use one offer, and an offer may be older than what was handed over since: a worker then gets more than
 * it asked for, and begins it as slots get free.
 */
export function openOffers(relay: Relay, now: () => number = () => performance.now()): Offers {
  const offers = new Map<QueueName, Map<string, Offer>>();
  const hear = (said: string) => {
    const [, worker_id = '', runner, room] = OFFER.exec(said) ?? [];
    if (!isQueueName(runner)) return;
    const known = offers.get(runner) ?? new Map<string, Offer>();
    offers.set(runner, known);
    if (Number(room) > 0) known.set(worker_id, { worker_id, room: Number(room), at: now() });
    else known.delete(worker_id);
  };
  const unsubscribe = relay.subscribe('room', (all) => all.forEach(hear));
  return {
    best: (runner) => {
      const known = offers.get(runner);
      let best: Offer | null = null;
      for (const offer of known?.values() ?? []) {
        if (now() - offer.at > BELIEVED_MS) known?.delete(offer.worker_id);
        else if (offer.room > (best?.room ?? 0)) best = offer;
      }
      return best;
    },
    use: (runner, worker_id, count) => {
      const offer = offers.get(runner)?.get(worker_id);
      if (offer) offer.room -= count;
    },
    close: unsubscribe,
  };
}
