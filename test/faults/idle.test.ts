import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { queues } from '../fixtures/queues.js';
import { redisFor } from './redis-for.js';
import { startCluster } from './start-cluster.js';
import { startCountingProxy } from './start-counting-proxy.js';

const OBSERVED_MS = 6000;
/** The work of a start takes longer on a busy machine. What never becomes idle fails nevertheless. */
const LOOKS = 5;
const MAX_PER_SECOND = 5;

test.concurrent.each(queues)(
  'an idle installation with two coordinators sends Postgres no more than 5 statements a second, on the $name queue',
  async (queue) => {
    const proxy = await startCountingProxy((await createTestDatabase()).url);
    const cluster = await startCluster({
      database_url: proxy.url,
      redis: await redisFor(queue),
      runners: 'builtin,file,api,exec',
      // The defaults.
      env: { CAPSTAN_LEASE_MS: '15000', CAPSTAN_SWEEP_MS: '1000' },
    });
    await cluster.startCoordinator();
    // There is no signal for "nothing happens", so time has to pass.
    const rates: number[] = [];
    while (rates.length < LOOKS && (rates.at(-1) ?? Infinity) > MAX_PER_SECOND) {
      proxy.take();
      await delay(OBSERVED_MS);
      rates.push(proxy.take() / (OBSERVED_MS / 1000));
    }
    expect(rates.at(-1), `statements a second: ${rates}`).toBeLessThanOrEqual(MAX_PER_SECOND);
  },
);
