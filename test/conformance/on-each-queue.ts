import type { Backbone } from '@capstan/backbone';
import { beforeAll, beforeEach, describe } from 'vitest';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { queues } from '../fixtures/queues.js';
import { startTestRedis } from '../fixtures/start-test-redis.js';
import { openTestBackbone, type Servers } from './open-test-backbone.js';
import { query } from './query.js';
import { withRedis } from './with-redis.js';

/** Runs the same tests on each queue, on servers that are emptied before each test. */
export function onEachQueue(tests: (open: () => Promise<Backbone>, servers: Servers) => void): void {
  describe.each(queues)('the $name queue', ({ name }) => {
    const servers: Servers = { database_url: '' };
    beforeAll(async () => {
      servers.database_url = (await createTestDatabase()).url;
      if (name === 'redis') servers.redis_url = (await startTestRedis()).url;
    });
    beforeEach(async () => {
      await query(servers.database_url, 'TRUNCATE invocations, work, claims, attempts, results, workers, queues');
      if (servers.redis_url) await withRedis(servers.redis_url, (redis) => redis.flushall());
    });

    tests(() => openTestBackbone(servers), servers);
  });
}
