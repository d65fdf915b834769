import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { queues } from '../fixtures/queues.js';
import { redisFor } from './redis-for.js';
import { startCluster } from './start-cluster.js';
import { startCountingProxy } from './start-counting-proxy.js';

/** What is done at a start is over. */
const SETTLED_MS = Number(process.env.CAPSTAN_IDLE_SETTLE_MS ?? 3000);
const OBSERVED_MS = Number(process.env.CAPSTAN_IDLE_MS ?? 10_000);
const MAX_PER_SECOND = 5;

test.concurrent.each(queues)(
  'an idle installation with two coordinators sends Postgres no more than 5 statements a second, on the $name queue',
  { timeout: 90_000 },
  async (queue) => {
    const proxy = await startCountingProxy((await createTestDatabase()).url);
    const cluster = await startCluster({
      database_url: proxy.url,
      redis: await redisFor(queue),
      runners: 'builtin,file,api,exec',
      // As they are where nobody sets them.
      env: { CAPSTAN_LEASE_MS: '15000', CAPSTAN_SWEEP_MS: '1000' },
    });
    await cluster.startCoordinator();
    // Nothing tells that nothing happens: time has to pass.
    await delay(SETTLED_MS);
    proxy.take();
    await delay(OBSERVED_MS);
    expect(proxy.take() / (OBSERVED_MS / 1000)).toBeLessThanOrEqual(MAX_PER_SECOND);
  },
);
