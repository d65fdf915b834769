import { RUNNER_TYPES, type RunnerType } from '@capstan/contracts';
import { Queue as BullQueue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Queue } from '../queue.js';
import { connectRedis, FAIL_FAST, infoField, requireNoEviction, untilReady } from './connect-redis.js';
import { consumeRedis, prefixOf } from './consume-redis.js';
import { type Envelope, type PackedEnvelope, packEnvelopes } from './envelope.js';

const EPOCH_KEY = 'capstan:epoch';
const READY_TIMEOUT_MS = 10_000;

export async function createRedisQueue(url: string, onError: (error: unknown) => void): Promise<Queue> {
  const redis = connectRedis(url, FAIL_FAST, onError);
  try {
    await untilReady(redis, READY_TIMEOUT_MS);
    await requireNoEviction(redis);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  const queues = new Map(RUNNER_TYPES.map((runner) => [runner, openQueue(runner, redis, onError)]));
  const queueOf = (runner: RunnerType) => queues.get(runner) ?? openQueue(runner, redis, onError);
  const runId = async () => infoField(await redis.info('server'), 'run_id') ?? 'unknown';

  return {
    kind: 'redis',
    needs_outbox: true,
    riding: () => null,
    enqueue: async (deliveries) => {
      const packed = packEnvelopes(deliveries);
      await Promise.all([...packed].map(([runner, envelopes]) => queueOf(runner).addBulk(envelopes.map(toJob))));
    },
    consume: (options, take) => consumeRedis(url, options, take, onError),
    counts: async (runner) => {
      const counts = await queueOf(runner).getJobCounts('wait', 'prioritized', 'delayed', 'active');
      const count = (state: string) => counts[state] ?? 0;
      return {
        waiting: count('wait') + count('prioritized'),
        delayed: count('delayed'),
        active: count('active'),
      };
    },
    drain: (runner) => queueOf(runner).drain(true),
    ping: async () => {
      await redis.ping();
    },
    // The marker holds the run_id of the server it was written to: a wiped Redis has no marker, and one that was
    // restarted or failed over (and may have lost its last second, or all) has another run_id.
    mayHaveLost: async () => (await redis.get(EPOCH_KEY)) !== (await runId()),
    confirm: async () => {
      await redis.set(EPOCH_KEY, await runId());
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}

function openQueue(runner: RunnerType, connection: Redis, onError: (error: unknown) => void) {
  const queue = new BullQueue<Envelope>(runner, {
    connection,
    prefix: prefixOf(runner),
    skipWaitingForReady: true,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  queue.on('error', onError);
  return queue;
}

const toJob = ({ envelope, ...opts }: PackedEnvelope) => ({ name: 'run', data: envelope, opts });
