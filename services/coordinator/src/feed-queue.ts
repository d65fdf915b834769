import type { Backbone } from '@capstan/backbone';
import { type QueueName, RUNNER_QUEUES } from '@capstan/contracts';
import { areShort, flowOf, onReceipt } from '@capstan/queue';
import { claimForQueue, type Flow, readFlow, type Turn } from '@capstan/store/claim';
import { repeat } from './repeat.js';

/** The most calls in Redis per worker slot. More would let one tenant's backlog delay the others. */
const AHEAD_PER_SLOT = 2;
/** Short calls finish before the next look at the queue, so Redis needs enough of them to last until then. */
const SHORT_AHEAD = 2000;
const LOOK_MS = 25;
const REST_MS = 5000;

/**
 * Keeps in Redis only the calls its workers need; the rest wait in Postgres. So tenants are served in turn, priorities are
 * respected, and Redis stays small. While calls wait, or Redis has enough, gateways are signaled to leave new calls in Postgres.
 * The returned function feeds once and returns when to run again.
 */
function createFeeder({ store, queue, relay }: Backbone): () => Promise<number> {
  const turns = new Map<QueueName, Turn>(RUNNER_QUEUES.map((runner) => [runner, { last: '' }]));

  const feed = async (flow: Flow): Promise<boolean> => {
    const { runner } = flow;
    const limit = roomFor(flow);
    if (limit <= 0) return false;
    const turn = turns.get(runner) ?? { last: '' };
    const deliveries = await claimForQueue(store, runner, limit, { turn, on_receipt: onReceipt(runner) });
    await queue.deliver(deliveries);
    return deliveries.reduce((sum, { size }) => sum + size, 0) < limit;
  };

  return async () => {
    const flows = await readFlow(store, RUNNER_QUEUES);
    const waiting = flows.filter((flow) => flow.waiting);
    const emptied = new Set<QueueName>(flows.filter((flow) => !flow.waiting).map(({ runner }) => runner));
    for (const flow of waiting) if (await feed(flow)) emptied.add(flow.runner);
    relay.publish(
      'flow',
      flows.map((flow) => flowOf(flow.runner, emptied.has(flow.runner) && roomFor(flow) > 0)),
    );
    const due = Math.min(REST_MS, ...flows.flatMap(({ due_in_ms }) => due_in_ms ?? []));
    const served = waiting.some(({ runner, slots }) => slots > 0 && !emptied.has(runner));
    return served ? LOOK_MS : Math.max(1, due);
  };
}

/** How many more calls Redis may hold: none without a worker, and none while its workers have enough on the way. */
function roomFor({ runner, slots, on_the_way }: Flow): number {
  if (slots === 0) return 0;
  const ahead = slots * AHEAD_PER_SLOT;
  return (areShort(runner) ? Math.max(SHORT_AHEAD, ahead) : ahead) - on_the_way;
}

/** Feeds Redis when calls become ready and when a queue is paused or resumed. */
export function runFeed(backbone: Backbone): { stop(): Promise<void> } {
  const { relay, log } = backbone;
  const feed = createFeeder(backbone);
  let next_ms = 0;
  const duty = async () => {
    next_ms = await feed();
    return 0;
  };
  const feeding = repeat(log, 'feed', duty, () => Promise.resolve(next_ms));
  const unsubscribe = [
    relay.subscribe('ready', feeding.wake, feeding.wake),
    relay.subscribe('refresh', (what) => {
      if (what.includes('queues')) feeding.wake();
    }),
  ];
  return {
    stop: async () => {
      for (const off of unsubscribe) off();
      await feeding.stop();
    },
  };
}
