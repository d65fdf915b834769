import type { Backbone } from '@capstan/backbone';
import { RUNNER_TYPES } from '@capstan/contracts';
import { Redis } from 'ioredis';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { idsOf } from './ids-of.js';
import { insertWork } from './insert-work.js';
import { openTestBackbone } from './open-test-backbone.js';
import { readEverything } from './read-everything.js';
import { startClaimant } from './start-claimant.js';
import { withRedis } from './with-redis.js';

describe.runIf(queues.some(({ name }) => name === 'redis'))('the queue on Redis alone', () => {
  let database_url = '';
  const deliverOne = async (backbone: Backbone) => {
    const deliveries = await insertWork(backbone.store, [{}]);
    await backbone.queue.enqueue(deliveries);
    return idsOf(deliveries);
  };

  beforeAll(async () => {
    database_url = (await createTestDatabase()).url;
  });

  test('refuses a server that may drop work when memory runs short', async () => {
    const { url: redis_url } = await startTestRedis();
    await withRedis(redis_url, (redis) => redis.config('SET', 'maxmemory-policy', 'allkeys-lru'));
    await expect(openTestBackbone({ database_url, redis_url })).rejects.toThrow(
      /maxmemory-policy allkeys-lru.*Set it to noeviction/,
    );
    await withRedis(redis_url, (redis) => redis.config('SET', 'maxmemory-policy', 'noeviction'));
    await openTestBackbone({ database_url, redis_url });
  });

  test('uses the password in the URL, for work and for signals', async () => {
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

  test('holds and passes on nothing but ids and routing, under keys with the hash tag of their queue', async () => {
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
    const work = RUNNER_TYPES.flatMap((runner) => [1, 2, 3].map((priority) => ({ runner, priority, inputs })));
    const deliveries = await insertWork(backbone.store, work);
    await backbone.queue.enqueue(deliveries);
    await backbone.queue.enqueue(deliveries.map((delivery) => ({ ...delivery, attempt: 1, delay_ms: 600_000 })));
    const claimants = [
      await startClaimant(backbone, { runner: 'exec', concurrency: 1, runs: true }),
      await startClaimant(backbone, { runner: 'builtin', concurrency: 1 }),
    ];
    await claimants[0]?.untilTaken(1);
    await claimants[1]?.untilTaken(3);
    backbone.relay.publish('settled', idsOf(deliveries));
    await backbone.queue.confirm();
    await eventually(
      () => said.some((line) => /^publish/i.test(line)) && said.some((line) => /capstan:epoch/.test(line)),
    );

    const held = await withRedis(redis_url, readEverything);
    const known = idsOf(deliveries)[0] ?? '';
    expect(JSON.stringify([...held])).toContain(known);
    expect(JSON.stringify([...held])).not.toContain('CANARY');
    expect(said.join('\n')).toContain(known);
    expect(said.join('\n')).not.toContain('CANARY');
    const keys = [...held.keys()].filter((key) => key !== 'capstan:epoch');
    expect(keys.length).toBeGreaterThan(RUNNER_TYPES.length);
    expect(keys.filter((key) => !/^\{capstan-([a-z]+)\}:\1:/.test(key))).toEqual([]);
  });

  test('knows that work may be lost: at first, after FLUSHALL and after a restart, until it is confirmed', async () => {
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

  test('fails fast while the server is down, and works again after; the consumer too', async () => {
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
    expect(performance.now() - started).toBeLessThan(2000);

    await server.restart();
    const restarted = performance.now();
    await eventually(() => deliverOne(backbone), { timeout_ms: 10_000 });
    await claimant.untilTaken(2);
    expect(performance.now() - restarted).toBeLessThan(10_000);
  });

  test('fails in bounded time while the server does not answer, and the work is delivered after', async () => {
    const server = await startTestRedis();
    const backbone = await openTestBackbone({ database_url, redis_url: server.url });
    const claimant = await startClaimant(backbone, { runner: 'exec', concurrency: 2 });
    await deliverOne(backbone);
    await claimant.untilTaken(1);

    process.kill(server.pid, 'SIGSTOP');
    const started = performance.now();
    await expect(deliverOne(backbone)).rejects.toThrow(/timed out/i);
    expect(performance.now() - started).toBeLessThan(10_000);

    process.kill(server.pid, 'SIGCONT');
    await eventually(() => deliverOne(backbone), { timeout_ms: 10_000 });
    await claimant.untilTaken(2);
  });

  test('hears signals again after the server was down', async () => {
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
      eventually(
        () => {
          one.relay.publish('settled', [id]);
          return heard.has(id);
        },
        { timeout_ms: 10_000 },
      );
    await send('before');
    await server.restart();
    await send('after');
  });
});
