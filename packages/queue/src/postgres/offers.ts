import { isQueueName, type QueueName } from '@capstan/contracts';
import type { Relay } from '../relay/relay.js';

/** How long an offer is valid; a worker repeats it with every heartbeat and settlement. */
const BELIEVED_MS = 6000;

type Offer = { worker_id: string; room: number; at: number };

/** The free slots that workers have offered to this process. */
export type Offers = {
  /** The worker with the largest offer for a runner type; the caller uses it up with `use`. */
  best(runner: QueueName): { worker_id: string; room: number } | null;
  use(runner: QueueName, worker_id: string, count: number): void;
  close(): void;
};

export const offerOf = (worker_id: string, runner: QueueName, room: number): string => `${worker_id}/${runner}/${room}`;

/** Queue names may contain a slash. */
const OFFER = /^([^/]*)\/(.*)\/(\d+)$/;

/**
 * Several gateways may use the same offer, and an offer may be outdated: a worker then gets more calls than it asked for and
 * starts them as slots become free.
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
