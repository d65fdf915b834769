import type { Backbone } from '@capstan/backbone';
import type { RunnerType } from '@capstan/contracts';
import type { Consumer } from '@capstan/queue';
import { type Claimed, claimNext, registerWorker } from '@capstan/store';
import { nanoid } from 'nanoid';
import { onTestFinished } from 'vitest';

export interface Claimant extends Consumer {
  /** How often the consumer asked for a claim. */
  readonly asked: number;
  /** Claims under way. */
  readonly claiming: number;
  /** Ids in the order in which they were claimed. */
  readonly taken: readonly string[];
  readonly running: number;
  /** The most that ever ran at once. */
  readonly most: number;
  untilTaken(count: number): Promise<void>;
  /** Ends what runs and, unless told otherwise, lets everything later end at once. */
  finish(options?: { later?: 'ends' | 'runs' }): void;
}

interface ClaimantOptions {
  runner: RunnerType;
  concurrency: number;
  /** Whether what is taken runs until `finish`; else it ends at once. */
  runs?: boolean;
  /** Held up here, a claim is under way. */
  beforeClaim?: () => Promise<void>;
}

/** Takes from a queue as a worker does: a lease in Postgres, a claim for every delivery. Only the tools are left out. */
export async function startClaimant(backbone: Backbone, options: ClaimantOptions): Promise<Claimant> {
  const { runner, concurrency, beforeClaim } = options;
  const worker_id = `wrk_${nanoid()}`;
  await registerWorker(backbone.store, { worker_id, runners: [runner], host: 'test', pid: 1, concurrency }, 600_000);
  const taken: string[] = [];
  const underWay = new Set<() => void>();
  let asked = 0;
  let claiming = 0;
  let most = 0;
  let runs = options.runs ?? false;
  let waiting: { count: number; resolve(): void }[] = [];

  const turn = { last: '' };
  const claim = (limit: number): Promise<Claimed[]> => claimNext(backbone.store, worker_id, runner, limit, turn);
  const run = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        underWay.delete(end);
        resolve();
      };
      underWay.add(end);
      most = Math.max(most, underWay.size);
      if (!runs) setImmediate(end);
    });

  const consumer = backbone.queue.consume({ runner, concurrency, lease_ms: 30_000 }, async (limit) => {
    asked += 1;
    claiming += 1;
    await beforeClaim?.();
    const claimed = await claim(limit).finally(() => {
      claiming -= 1;
    });
    taken.push(...claimed.map((row) => row.invocation_id));
    const started = claimed.map(run);
    for (const one of waiting) if (taken.length >= one.count) one.resolve();
    waiting = waiting.filter((one) => taken.length < one.count);
    return started;
  });
  const finish: Claimant['finish'] = ({ later = 'ends' } = {}) => {
    runs = later === 'runs';
    for (const end of [...underWay]) end();
  };
  onTestFinished(async () => {
    finish();
    await consumer.stop();
  });
  return {
    get asked() {
      return asked;
    },
    get claiming() {
      return claiming;
    },
    taken,
    get running() {
      return underWay.size;
    },
    get most() {
      return most;
    },
    untilTaken: (count) =>
      new Promise((resolve) => {
        if (taken.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    finish,
    pause: () => consumer.pause(),
    resume: () => consumer.resume(),
    hasRoom: () => consumer.hasRoom(),
    stop: () => consumer.stop(),
  };
}
