import { describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue, queues } from '../fixtures/queues.js';
import { checkInvariants } from './check-invariants.js';
import type { Ask } from './open-questions.js';
import { redisFor } from './redis-for.js';
import { startCluster } from './start-cluster.js';
import { startDurablePostgres } from './start-durable-postgres.js';
import { submitSums } from './submit-sums.js';
import { untilAllEnded } from './until-all-ended.js';

describe.each(queues)('on the $name queue', (queue) => {
  test('when every connection to Postgres is terminated under load, accepted calls end and others are answered 503', async () => {
    const cluster = await startCluster({ redis: await redisFor(queue) });
    const { client, ask } = cluster;
    const accepted: string[] = [];
    for (let times = 0; times < 5; times++) {
      const submitting = submitSums(client, { bulk: 200, lone: 50 });
      await Promise.race([submitting, eventually(() => isAtWork(ask))]);
      await endAllConnections(ask);
      accepted.push(...(await submitting).accepted);
    }
    expect(accepted.length).toBeGreaterThan(0);
    await untilAllEnded(ask);
    await checkInvariants(cluster, accepted);
  });
});

describe.each(hardestQueue)('on the $name queue', (queue) => {
  test('when Postgres stops without a shutdown and restarts under load, no accepted call is lost or half written', async () => {
    const postgres = await startDurablePostgres();
    const cluster = await startCluster({ redis: await redisFor(queue), database_url: postgres.url });
    const { client, ask } = cluster;
    const accepted: string[] = [];
    for (let times = 0; times < 2; times++) {
      const submitting = submitSums(client, { bulk: 200, lone: 50 });
      await Promise.race([submitting, eventually(() => isAtWork(ask))]);
      await postgres.crash();
      accepted.push(...(await submitting).accepted);
    }
    accepted.push(...(await submitSums(client, { bulk: 50, lone: 0 })).accepted);
    await untilAllEnded(ask);
    await checkInvariants(cluster, accepted);
  });
});

const isAtWork = async (ask: Ask) =>
  (await ask(`SELECT FROM invocation_states WHERE status IN ('queued', 'running') LIMIT 1`)).length > 0;

const endAllConnections = (ask: Ask) =>
  ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name <> 'capstan-faults'`);
