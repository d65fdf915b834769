import { onlyOne, openStore } from '@capstan/store';
import { expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { openQuestions } from './open-questions.js';
import { redisFor } from './redis-for.js';
import { startCluster } from './start-cluster.js';
import { startSilentProxy } from './start-silent-proxy.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

test.concurrent.each(queues)(
  'a gateway, a worker and a coordinator replace connections that go silent and go on, on the $name queue',
  async (queue) => {
    const { url: database_url } = await createTestDatabase();
    const postgres = await startSilentProxy(database_url);
    const direct = await redisFor(queue);
    const redis = direct && (await startSilentProxy(direct.url));
    const cluster = await startCluster({
      database_url: postgres.url,
      ...(direct && redis && { redis: { ...direct, url: redis.url } }),
      // A worker that cannot reach Postgres for longer than this loses its work; here none should.
      env: { CAPSTAN_LEASE_MS: '20000' },
    });
    const ask = openQuestions(database_url);
    await submitSums(cluster.client, { bulk: 50, lone: 50 });
    await untilAllEnded(ask);

    const sum = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
    postgres.silence();
    redis?.silence();
    // Prometheus waits for ten seconds, and has to learn that Postgres does not answer.
    const scraped = performance.now();
    expect(await (await fetch(`${cluster.gateway.url}/metrics`)).text()).toContain('capstan_store_up 0');
    expect(performance.now() - scraped).toBeLessThan(8000);
    const answered = eventually(() => cluster.client.submit(sum, { wait_s: 30 }));
    const deferred = eventually(() => cluster.client.submit({ ...sum, delay_ms: 100 }));
    expect(await answered).toMatchObject({ status: 'succeeded' });
    await deferred;
    await untilAllEnded(ask);
    await eventually(() => expect([postgres.held(), redis?.held() ?? 0]).toEqual([0, 0]));
    expect(cluster.crashes).toEqual([]);
  },
);

test.concurrent('a duty is taken over from a process that vanished while it did it', async () => {
  const { url } = await createTestDatabase();
  const proxy = await startSilentProxy(url);
  const [vanished, spare] = [proxy.url, url].map((url) => openStore({ url, name: 'duties', connections: 2 }));
  if (!vanished || !spare) throw new Error('there are two of them');
  atEnd(() => Promise.all([vanished.close(), spare.close()]));
  const done = new AbortController();
  const begun = new Promise<void>((resolve) => {
    const first = onlyOne(vanished, 'duty', () => {
      resolve();
      return new Promise((stop) => done.signal.addEventListener('abort', () => stop()));
    });
    first.catch(() => {});
  });
  await begun;
  expect(await onlyOne(spare, 'duty', () => Promise.resolve())).toBe(false);
  proxy.silence();
  await eventually(() => onlyOne(spare, 'duty', () => Promise.resolve()));
  done.abort();
});
