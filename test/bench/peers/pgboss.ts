import { setTimeout as delay } from 'node:timers/promises';
import PgBoss from 'pg-boss';
import { CONCURRENCY, type Peer } from './peer.js';

const NAME = 'add';

async function open(connectionString: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString, schedule: false, supervise: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  return boss;
}

/**
 * pg-boss: jobs in Postgres, taken and completed in batches. Its own worker looks twice a second at most, which would be all that is
 * measured, so that this one asks again at once while jobs are to be expected.
 */
export const pgboss: Peer = {
  async openProducer(url) {
    const boss = await open(url);
    // Only here: two processes that create a queue at once may deadlock.
    await boss.createQueue(NAME);
    return {
      add: (a) => boss.send(NAME, { a, b: 3 }),
      addMany: (jobs) => boss.insert(jobs.map((data) => ({ name: NAME, data }))),
    };
  },
  async work(url, { completed, busy }) {
    const boss = await open(url);
    const takeBatches = async () => {
      for (;;) {
        const jobs = busy() ? await boss.fetch(NAME, { batchSize: CONCURRENCY }) : [];
        if (jobs.length === 0) await delay(busy() ? 1 : 20);
        else {
          const ids = jobs.map(({ id }) => id);
          await boss.complete(NAME, ids);
          completed(ids.length);
        }
      }
    };
    for (let loops = 0; loops < 2; loops += 1) void takeBatches();
  },
};
