import type { Backbone } from '@capstan/backbone';
import type { QueueName } from '@capstan/contracts';
import type { Consumer, Start } from '@capstan/queue';
import { type Claimed, claimNext, ownClaims } from '@capstan/store/claim';
import { registerWorker } from '@capstan/store/worker';
import { nanoid } from 'nanoid';
import { onTestFinished } from 'vitest';

export interface Claimant extends Consumer {
  readonly worker_id: string;
  /** How often the consumer asked for calls. */
  readonly asked: number;
  /** Requests for calls that are not answered yet. */
  readonly asking: number;
  /** The calls that were started, in that order. */
  readonly begun: readonly Claimed[];
  /** Their ids. */
  readonly taken: readonly string[];
  readonly running: number;
  /** The most that ever ran at once. */
  readonly most: number;
  untilTaken(count: number): Promise<void>;
  /** Ends the running calls; later ones end at once. */
  finish(): void;
}

interface ClaimantOptions {
  runner: QueueName;
  concurrency: number;
  /** Whether calls run until `finish`. Otherwise they end at once. */
  runs?: boolean;
  /** Called before each request for calls. A test can delay it here. */
  beforeClaim?: () => Promise<void>;
}

/** Takes calls from a queue as a worker does, with a lease and receipts in Postgres, but runs no tools. */
export async function startClaimant({ store, queue }: Backbone, options: ClaimantOptions): Promise<Claimant> {
  const { runner, concurrency, beforeClaim } = options;
  const worker_id = `wrk_${nanoid()}`;
  await registerWorker(store, { worker_id, runners: [runner], host: 'test', pid: 1, concurrency }, 600_000);
  const begun: Claimed[] = [];
  const taken: string[] = [];
  const underWay = new Set<() => void>();
  let asked = 0;
  let asking = 0;
  let most = 0;
  let runs = options.runs ?? false;
  let waiting: { count: number; resolve(): void }[] = [];

  const run = (call: Claimed) =>
    new Promise<void>((resolve) => {
      begun.push(call);
      taken.push(call.invocation_id);
      const end = () => {
        underWay.delete(end);
        resolve();
      };
      underWay.add(end);
      most = Math.max(most, underWay.size);
      if (!runs) setImmediate(end);
      for (const one of waiting) if (taken.length >= one.count) one.resolve();
      waiting = waiting.filter((one) => taken.length < one.count);
    });
  const ask = async (take: () => Promise<Claimed[]>): Promise<Start[]> => {
    asked += 1;
    asking += 1;
    await beforeClaim?.();
    const calls = await take().finally(() => {
      asking -= 1;
    });
    return calls.map((call) => () => run(call));
  };

  const turn = { last: '' };
  const consumer = queue.consume(
    { runner, concurrency, lease_ms: 15_000 },
    {
      claim: (limit) => ask(() => claimNext(store, worker_id, runner, limit, turn)),
      own: (claim_id) => ask(() => ownClaims(store, worker_id, [claim_id])),
    },
  );
  const finish = () => {
    runs = false;
    for (const end of [...underWay]) end();
  };
  onTestFinished(async () => {
    finish();
    await consumer.stop();
  });
  return {
    worker_id,
    get asked() {
      return asked;
    },
    get asking() {
      return asking;
    },
    begun,
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
    run: (starts) => consumer.run(starts),
    offered: () => consumer.offered(),
    hasRoom: () => consumer.hasRoom(),
    stop: () => consumer.stop(),
  };
}
