import type { QueueName } from '@capstan/contracts';
import { Queue as BullQueue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Delivery, Queue } from '../queue.js';
import { connectRedis, FAIL_FAST, infoField, requireSuitable, untilReady } from './connect-redis.js';
import { AGAIN, prefixOf, RedisConsumer } from './redis-consumer.js';

const EPOCH_KEY = 'capstan:epoch';
const READY_TIMEOUT_MS = 10_000;
/** How long the server's run_id is cached, because coordinators call `mayHaveLost` every second. */
const RUN_ID_MS = 5000;

export async function createRedisQueue(url: string, onError: (error: unknown) => void): Promise<Queue> {
  const redis = connectRedis(url, FAIL_FAST, onError);
  try {
    await untilReady(redis, READY_TIMEOUT_MS);
    await requireSuitable(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const queues = new Map<QueueName, ReturnType<typeof openQueue>>();
  const queueOf = (runner: QueueName) => {
    const known = queues.get(runner) ?? openQueue(runner, redis, onError);
    queues.set(runner, known);
    return known;
  };
  const recentRunId = cacheRunId(redis);
  const add = async (deliveries: readonly Delivery[], idOf: (delivery: Delivery) => string): Promise<void> => {
    const runners = [...new Set(deliveries.map(({ runner }) => runner))];
    const jobs = (runner: QueueName) =>
      inOrderOfAdding(deliveries.filter((delivery) => delivery.runner === runner)).map((delivery) =>
        toJob(delivery, idOf(delivery)),
      );
    await Promise.all(runners.map((runner) => queueOf(runner).addBulk(jobs(runner))));
  };
  return {
    kind: 'redis',
    deliver: (deliveries) => add(deliveries, ({ claim_id }) => claim_id),
    deliverAgain: (deliveries) => add(deliveries, ({ claim_id }) => `${claim_id}${AGAIN}`),
    consume: (options, work) => new RedisConsumer(url, options, work, onError),
    counts: async (runner) => {
      const counts = await queueOf(runner).getJobCounts('wait', 'prioritized', 'delayed', 'active');
      const count = (state: string) => counts[state] ?? 0;
      return {
        waiting: count('wait') + count('prioritized'),
        delayed: count('delayed'),
        active: count('active'),
      };
    },
    ping: async () => {
      await redis.ping();
    },
    // The marker holds the run_id of the server it was written to: a wiped Redis has no marker, and one that was
    // restarted or failed over (and may have lost its last second, or all) has another run_id.
    mayHaveLost: async () => (await redis.get(EPOCH_KEY)) !== (await recentRunId()),
    confirm: async () => {
      await redis.set(EPOCH_KEY, await readRunId(redis));
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

const readRunId = async (redis: Redis): Promise<string> => infoField(await redis.info('server'), 'run_id') ?? 'unknown';

/** A failover usually breaks the connection, which clears the cache. A proxy may keep it open, so the cache also expires. */
function cacheRunId(redis: Redis): () => Promise<string> {
  let cached = { run_id: '', until: 0 };
  redis.on('close', () => {
    cached.until = 0;
  });
  return async () => {
    if (performance.now() >= cached.until)
      cached = { run_id: await readRunId(redis), until: performance.now() + RUN_ID_MS };
    return cached.run_id;
  };
}

function openQueue(runner: QueueName, connection: Redis, onError: (error: unknown) => void) {
  const queue = new BullQueue(runner, {
    connection,
    prefix: prefixOf(runner),
    skipWaitingForReady: true,
    // An outage during BullMQ's own check, which runs at the first delivery, would leave the queue unusable for good.
    skipVersionCheck: true,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', onError);
  return queue;
}

/**
 * BullMQ ignores a job whose id is already in Redis, so repeated deliveries add one job, and a redelivery one more if the first
 * is stuck in a hung worker.
 */
const toJob = ({ priority, ahead }: Delivery, jobId: string) => ({
  name: 'run',
  data: {},
  opts: { jobId, ...(ahead ? { lifo: true } : orderOf(priority)) },
});

const goesToTheHead = ({ priority, ahead }: Delivery): boolean => priority < 0 || ahead;

/** Each job added at the head goes before earlier ones, so the first to run is added last. */
const inOrderOfAdding = (deliveries: readonly Delivery[]): Delivery[] => [
  ...deliveries
    .filter(goesToTheHead)
    .sort((one, other) => one.priority - other.priority)
    .reverse(),
  ...deliveries.filter((delivery) => !goesToTheHead(delivery)),
];

/**
 * BullMQ runs jobs without a priority first, in order. Our priorities may be negative; those jobs go to the head. Under
 * backlog, the coordinator delivers in the exact order.
 */
const orderOf = (priority: number): { lifo?: true; priority?: number } => {
  if (priority === 0) return {};
  return priority < 0 ? { lifo: true } : { priority };
};
