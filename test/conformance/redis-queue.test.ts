import type { Backbone } from '@capstan/backbone';
import { type Json, RUNNER_QUEUES } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { flowOf } from '@capstan/queue';
import { type Claimed, ENDED, settleClaims } from '@capstan/store/claim';
import { registerWorker } from '@capstan/store/worker';
import { Redis } from 'ioredis';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { afterAWhile } from './after-a-while.js';
import { commitWork, insertWaiting, manyOf, submitWork, type Work } from './insert-work.js';
import { openTestBackbone } from './open-test-backbone.js';
import { query } from './query.js';
import { readEverything } from './read-everything.js';
import { startClaimant } from './start-claimant.js';
import { startTestCoordinator } from './start-test-coordinator.js';
import { withRedis } from './with-redis.js';

describe.runIf(queues.some(({ name }) => name === 'redis'))('the Redis queue', () => {
  let database_url = '';
  /** Rejects if the call cannot be delivered. A gateway would leave that to the coordinator. */
  const deliverOne = async (backbone: Backbone) => {
    const { ids, deliveries } = await commitWork(backbone, [{}]);
    expect(deliveries).toHaveLength(1);
    await backbone.queue.deliver(deliveries);
    return ids;
  };

  beforeAll(async () => {
    database_url = (await createTestDatabase()).url;
  });
  beforeEach(() => query(database_url, 'TRUNCATE invocations, work, claims, attempts, results, workers, queues'));

  test('refuses a server whose eviction policy may drop work', async () => {
    const { url: redis_url } = await startTestRedis();
    await withRedis(redis_url, (redis) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    await expect(openTestBackbone({ database_url, redis_url })).rejects.toThrow(
      /maxmemory-policy allkeys-lru.*Set it to noeviction/,
    );
    await withRedis(redis_url, (redis) => redis.config('SET', 'maxmemory-policy', 'noeviction'));
    await openTestBackbone({ database_url, redis_url });
  });

  test('uses the password in the URL for work and for signals', async () => {
    const { url } = await startTestRedis();
    const password = 'p@ss:w/rd %';
    await withRedis(url, (redis) => redis.config('SET', 'requirepass', password));
    const redis_url = url.replace('//', `//:${encodeURIComponent(password)}@`);
    const backbone = await openTestBackbone({ database_url, redis_url });
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 1 });
    const sent = await deliverOne(backbone);
    await claimant.untilTaken(1);
    expect(claimant.taken).toEqual(sent);
    const heard = new Promise<string[]>((resolve) => void backbone.relay.subscribe('settled', resolve));
    backbone.relay.publish('settled', ['inv_1']);
    expect(await heard).toEqual(['inv_1']);
  });

  test('stores and sends only ids and routing, under keys with the hash tag of their queue', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    const watching = new Redis(redis_url);
    const monitor = await watching.monitor();
    onTestFinished(() => {
      monitor.disconnect();
      watching.disconnect();
    });
    const said: string[] = [];
    monitor.on('monitor', (_at: string, args: string[]) => void said.push(args.join(' ')));

    const inputs = { canary: 'CANARY-in-the-inputs' };
    const work: Work[] = RUNNER_QUEUES.flatMap((runner) =>
      [-1, 0, 3].map((priority) => ({ runner, priority, inputs })),
    );
    const { ids, deliveries, tell } = await commitWork(backbone, work);
    tell();
    const claimants = [
      await startClaimant(backbone, { runner: 'exec', concurrency: 1, runs: true }),
      await startClaimant(backbone, { runner: 'builtin', concurrency: 1 }),
    ];
    await claimants[0]?.untilTaken(1);
    await claimants[1]?.untilTaken(3);
    const heard: string[] = [];
    backbone.relay.receive(ENDED, (contents) => heard.push(contents));
    await eventually(async () => {
      await query(database_url, `SELECT pg_notify('capstan_${ENDED}', '${ENDED} hello')`);
      return heard.includes('hello');
    });
    await settleWith(backbone, claimants[1]?.begun ?? [], { canary: 'CANARY-in-the-result' });
    await eventually(() => heard.some((contents) => contents.includes('CANARY-in-the-result')));
    backbone.relay.publish('settled', ids);
    await backbone.queue.confirm();
    await eventually(
      () => said.some((line) => /^publish/i.test(line)) && said.some((line) => /capstan:epoch/.test(line)),
    );

    const held = await withRedis(redis_url, readEverything);
    const known = deliveries.find(({ runner }) => runner === 'browser')?.claim_id ?? 'no receipt';
    expect(JSON.stringify([...held])).toContain(known);
    expect(JSON.stringify([...held])).not.toContain('CANARY');
    expect(said.join('\n')).toContain(known);
    expect(said.join('\n')).not.toContain('CANARY');
    const keys = [...held.keys()].filter((key) => key !== 'capstan:epoch');
    expect(keys.length).toBeGreaterThan(RUNNER_QUEUES.length);
    expect(keys.filter((key) => !/^\{capstan-([a-z]+)\}:\1:/.test(key))).toEqual([]);
  });

  test('gives a resumed consumer no receipts that are about to be delivered in their turn', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    const claimant = await startClaimant(backbone, { runner: 'builtin', concurrency: 2 });
    claimant.pause();
    const { ids: flood } = await commitWork(backbone, manyOf(10, { runner: 'builtin' }));
    claimant.resume();
    await afterAWhile(backbone);
    expect(claimant.taken).toEqual([]);
    const delivered = await submitWork(backbone, [{ runner: 'builtin' }]);
    await claimant.untilTaken(1);
    expect(claimant.taken).toEqual(delivered);
    expect(flood).toHaveLength(10);
  });

  test.each(['exec', 'builtin'] as const)('redelivers %s calls that a wiped server has lost', async (runner) => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    await backbone.queue.confirm();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(...(await submitWork(backbone, [{ runner }])));
    await backbone.dispatcher.idle();
    await withRedis(redis_url, (redis) => redis.flushall());
    expect(await backbone.queue.counts(runner)).toMatchObject({ waiting: 0 });
    const claimant = await startClaimant(backbone, { runner, concurrency: 2 });
    startTestCoordinator(backbone);
    await claimant.untilTaken(5);
    await afterAWhile(backbone);
    expect(claimant.taken.toSorted()).toEqual(ids.sort());
  });

  test('redelivers calls that a restarted server has lost, and none of them starts twice', async () => {
    const server = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url: server.url });
    await backbone.queue.confirm();
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 1, runs: true });
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(...(await submitWork(backbone, [{}])));
    await claimant.untilTaken(1);
    await server.restart();
    startTestCoordinator(backbone);
    claimant.finish();
    await claimant.untilTaken(5);
    await afterAWhile(backbone);
    expect(claimant.taken.toSorted()).toEqual(ids.sort());
  });

  test('delivers a call whose gateway died between commit and delivery', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    const { ids } = await commitWork(backbone, [{}]);
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 1 });
    startTestCoordinator(backbone);
    await claimant.untilTaken(1);
    expect(claimant.taken).toEqual(ids);
  });

  test('holds only as many of 400 calls committed at once as its workers need', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    startTestCoordinator(backbone);
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 8, runs: true });
    await submitWork(backbone, manyOf(400));
    await claimant.untilTaken(8);
    await afterAWhile(backbone);
    const { waiting, active } = await backbone.queue.counts('exec');
    expect(waiting + active).toBeLessThanOrEqual(3 * 8);
    claimant.finish();
    await claimant.untilTaken(400);
    expect(new Set(claimant.taken).size).toBe(400);
  });

  test('holds no further calls that are committed one by one after the coordinator has closed the flow', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 8, runs: true });
    for (let count = 0; count < 40; count += 1) await submitWork(backbone, [{}]);
    await claimant.untilTaken(8);
    await backbone.dispatcher.idle();
    const shut = new Promise<void>((resolve) => {
      backbone.relay.subscribe('flow', (all) => {
        if (all.includes(flowOf('exec', false))) resolve();
      });
    });
    startTestCoordinator(backbone);
    backbone.dispatcher.wake(['exec']);
    await shut;
    for (let count = 0; count < 100; count += 1) await submitWork(backbone, [{}]);
    await afterAWhile(backbone);
    const { waiting, active } = await backbone.queue.counts('exec');
    expect(waiting + active).toBeLessThanOrEqual(40);
    claimant.finish();
    await claimant.untilTaken(140);
    expect(new Set(claimant.taken).size).toBe(140);
  });

  test('is fed calls of equal priority in the order of their commits', async () => {
    const { url: redis_url } = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url });
    const worker = { worker_id: 'wrk_1', runners: ['exec' as const], host: 'test', pid: 1, concurrency: 50 };
    await registerWorker(backbone.store, worker, 600_000);
    const ids = await insertWaiting(backbone, manyOf(60));
    startTestCoordinator(backbone);
    await eventually(async () => expect(await backbone.queue.counts('exec')).toMatchObject({ waiting: 60 }));
    const receipts = await query(database_url, 'SELECT claim_id, ids[1] AS id FROM claims');
    const idOf = new Map(receipts.map(({ claim_id, id }) => [claim_id, id]));
    const waiting = await withRedis(redis_url, (redis) => redis.lrange('{capstan-exec}:exec:wait', 0, -1));
    expect(waiting.reverse().map((claim_id) => idOf.get(claim_id))).toEqual(ids);
  });

  test('reports a possible loss at first, after FLUSHALL and after a restart, until it is confirmed', async () => {
    const server = await startTestRedis({ appendonly: true });
    const { queue } = await openTestBackbone({ database_url, redis_url: server.url });
    const confirm = async () => {
      expect(await queue.mayHaveLost()).toBe(true);
      await queue.confirm();
      expect(await queue.mayHaveLost()).toBe(false);
    };
    await confirm();
    await withRedis(server.url, (redis) => redis.flushall());
    await confirm();
    await server.restart();
    await eventually(() => queue.ping());
    await confirm();
  });

  test('fails fast while the server is down, and delivers to its consumer again afterwards', async () => {
    const server = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url: server.url });
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 2 });
    await deliverOne(backbone);
    await claimant.untilTaken(1);

    await server.kill();
    const started = performance.now();
    await expect(deliverOne(backbone)).rejects.toThrow();
    await expect(backbone.queue.ping()).rejects.toThrow();
    await expect(backbone.queue.counts('exec')).rejects.toThrow();
    await expect(backbone.queue.mayHaveLost()).rejects.toThrow();
    // Waiting for an answer would take 5 s for each of the four.
    expect(performance.now() - started).toBeLessThan(10_000);

    await server.restart();
    await eventually(() => deliverOne(backbone));
    await claimant.untilTaken(2);
  });

  test('fails in bounded time while the server hangs, and delivers afterwards', async () => {
    const server = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url: server.url });
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 2 });
    await deliverOne(backbone);
    await claimant.untilTaken(1);

    process.kill(server.pid, 'SIGSTOP');
    await expect(deliverOne(backbone)).rejects.toThrow(/timed out/i);

    process.kill(server.pid, 'SIGCONT');
    await eventually(() => deliverOne(backbone));
    await claimant.untilTaken(2);
  });

  test('receives signals again after a restart of the server', async () => {
    const server = await startTestRedis();
    const [one, other] = [
      await openTestBackbone({ database_url, redis_url: server.url }),
      await openTestBackbone({ database_url, redis_url: server.url }),
    ];
    const heard = new Set<string>();
    other.relay.subscribe('settled', (some) => {
      for (const id of some) heard.add(id);
    });
    const send = (id: string) =>
      eventually(() => {
        one.relay.publish('settled', [id]);
        return heard.has(id);
      });
    await send('before');
    await server.restart();
    await send('after');
  });
});

/** Settles calls as a worker does: the statement that writes the results also sends them. */
async function settleWith({ store }: Backbone, calls: readonly Claimed[], payload: Json): Promise<void> {
  const result = {
    ...{ success: true, payload, code: null, declared_side_effects: [], artifacts: [], facts: null, duration_ms: 1 },
    ...{ exit_code: null, truncated: false, input_hash: hashJson(null), output_hash: hashJson(payload) },
  };
  const end = { status: 'succeeded', backoff_ms: 0, outcome: 'succeeded', error: null, result } as const;
  const all = [`${ENDED} ${JSON.stringify(calls.map(({ invocation_id }) => ({ invocation_id, result })))}`];
  const settlements = calls.map((call) => ({ ...call, ...end }));
  const settled = await settleClaims(store, settlements, () => true, { all, some: [] });
  expect(settled).toEqual(calls.map(() => expect.objectContaining({ status: 'succeeded' })));
}
