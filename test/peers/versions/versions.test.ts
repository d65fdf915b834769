import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../faults/check-invariants.js';
import { redisFor } from '../../faults/redis-for.js';
import { LONG_LEASE, type RunningGateway, startCluster } from '../../faults/start-cluster.js';
import { submitSums } from '../../faults/submit-sums.js';
import { untilAllEnded } from '../../faults/until-all-ended.js';
import { createEmptyDatabase } from '../../fixtures/create-test-database.js';
import { eventually } from '../../fixtures/eventually.js';
import { buildVersion, findOlderVersion } from '../../fixtures/older-version.js';
import { queues } from '../../fixtures/queues.js';
import { spawnCapstan } from '../../fixtures/spawn-capstan.js';

const older = findOlderVersion('two versions side by side on one database');

describe.skipIf(older === undefined).each(queues)('next to the previous version, on the $name queue', (queue) => {
  test('every service can be rolled to the new version and back under load without a failed request or a lost call', async () => {
    const program = await buildVersion(older ?? '');
    const { url: database_url } = await createEmptyDatabase();
    const migrateBy = async (by?: string) => {
      const migration = await spawnCapstan(['migrate'], { DATABASE_URL: database_url }, by ? { program: by } : {});
      expect(await migration.exited).toMatchObject({ code: 0 });
    };
    await migrateBy(program);
    const cluster = await startCluster({ redis: await redisFor(queue), database_url, program, env: LONG_LEASE });

    const accepted: string[] = [];
    let gateways: RunningGateway[] = [cluster.gateway];
    let over = false;
    let round: Promise<unknown> = Promise.resolve();
    const load = async () => {
      while (!over) {
        const sums = gateways.map(({ client }) => submitSums(client, { bulk: 5, lone: 5 }));
        round = Promise.all(sums);
        for (const { accepted: ids, refused } of await Promise.all(sums)) {
          expect(refused.map(({ message }) => message)).toEqual([]);
          accepted.push(...ids);
        }
      }
    };
    const running = load();
    // Awaited at the end; until then a failure must not be an unhandled rejection.
    running.catch(() => {});

    let services = [cluster.coordinator, ...cluster.workers];
    /** Starts services of the other version next to the running ones, under load, and then stops the old ones. */
    const rollTo = async (other?: string) => {
      const [leaving, left] = [services, gateways];
      cluster.useProgram(other);
      const [gateway, ...others] = await Promise.all([
        cluster.startGateway(),
        cluster.startCoordinator(),
        cluster.startWorker(),
      ]);
      services = others;
      const before = accepted.length;
      gateways = [...left, gateway];
      await eventually(() => accepted.length > before + 40, { timeout_ms: 20_000 });
      gateways = [gateway];
      await round;
      for (const process of [...leaving, ...left.map((one) => one.process)]) {
        process.kill('SIGTERM');
        expect(await process.exited).toMatchObject({ code: 0 });
      }
      await eventually(() => accepted.length > before + 80, { timeout_ms: 20_000 });
      return gateway;
    };
    await migrateBy();
    await rollTo();
    const { process } = await rollTo(program);
    await process.waitForLine(/migrated by a newer version/);
    over = true;
    await running;
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, accepted);
  }, 180_000);
});
