import { type Backbone, tellReady } from '@capstan/backbone';
import { publishEnded } from '@capstan/queue';
import { expireInvocations, nextDeadline, promoteDeferred } from '@capstan/store/invocation';
import { BACKSTOP, every } from './every.js';
import { repeat } from './repeat.js';

/** Queues deferred calls and expires late ones when they are due. The sweep finds deadlines whose signal was lost. */
export function runDeadlines(backbone: Backbone, sweep_ms: number): { stop(): Promise<void> } {
  const { store, relay, log } = backbone;
  const backstop = every(sweep_ms, BACKSTOP.due);
  let next_ms: number | null = null;
  const turn = async (): Promise<number> => {
    next_ms = await nextDeadline(store);
    if (next_ms !== 0) return 0;
    const [promoted, expired] = await Promise.all([promoteDue(backbone), expireLate(backbone)]);
    return promoted + expired;
  };
  // A row that is due but locked is being handled by another coordinator, so there is no need to poll.
  const untilDue = async () => Math.min(next_ms === 0 ? sweep_ms : (next_ms ?? Infinity), await backstop());
  const deadlines = repeat(log, 'deadlines', turn, untilDue);
  const unsubscribe = relay.subscribe('due', deadlines.wake, deadlines.wake);
  return {
    stop: async () => {
      unsubscribe();
      await deadlines.stop();
    },
  };
}

const BATCH = 1000;

/** Expires calls that waited past their deadline. */
async function expireLate({ store, relay }: Backbone): Promise<number> {
  const expired = await expireInvocations(store, BATCH);
  publishEnded(relay, expired);
  if (expired.length > 0) relay.publish('due', ['events']);
  return expired.length;
}

/** Queues deferred calls that are due. */
async function promoteDue(backbone: Backbone): Promise<number> {
  const promoted = await promoteDeferred(backbone.store, BATCH);
  tellReady(backbone, promoted);
  return promoted.ids.length;
}
