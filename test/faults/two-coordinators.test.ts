import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { hardestQueue } from '../fixtures/queues.js';
import { allowShell } from './allow-shell.js';
import { checkInvariants } from './check-invariants.js';
import { redisFor } from './redis-for.js';
import { type Cluster, LONG_LEASE, startCluster } from './start-cluster.js';
import { untilAllEnded } from './until-all-ended.js';

const COUNT = 300;
/** There is no exec worker, so these can only expire. */
const expiring = { tool_id: 'shell.run', inputs: { cmd: ['true'] }, expires_in_ms: 300 };
const deferred = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 }, delay_ms: 200 };

describe.each(hardestQueue)('two coordinators, on the $name queue,', (queue) => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ redis: await redisFor(queue), env: LONG_LEASE });
    await Promise.all([cluster.startCoordinator(), allowShell(cluster.client)]);
  });

  test('promote each deferred call once and expire each late one once', async () => {
    const { ask, database_url } = cluster;
    const moves = await recordMoves(database_url);
    const ids = await submit(cluster);
    await untilAllEnded(ask);
    const twice = [...moves()].filter(([, count]) => count > 1);
    expect(twice).toEqual([]);
    expect(
      await ask('SELECT tool_id, status, attempt, count(*)::int FROM invocation_states GROUP BY 1, 2, 3 ORDER BY 1'),
    ).toEqual([
      { tool_id: 'cap:test_math:add', status: 'succeeded', attempt: 1, count: COUNT },
      { tool_id: 'shell.run', status: 'expired', attempt: 0, count: COUNT },
    ]);
    await checkInvariants(cluster, ids);
  });

  test('go on as one when the other is killed', async () => {
    cluster.coordinator.kill('SIGKILL');
    const ids = await submit(cluster);
    await untilAllEnded(cluster.ask);
    await checkInvariants(cluster, ids);
  });
});

async function submit({ client }: Cluster): Promise<string[]> {
  const { items } = await client.submitBulk(
    Array.from({ length: 2 * COUNT }, (_, index) => (index % 2 ? deferred : expiring)),
  );
  return items.flatMap(({ invocation_id }) => invocation_id ?? []);
}

/** Counts how often each invocation left each waiting state, by a trigger in Postgres. */
async function recordMoves(database_url: string): Promise<() => Map<string, number>> {
  const listener = new pg.Client({ connectionString: database_url });
  const moves = new Map<string, number>();
  listener.on('notification', ({ payload = '' }) => moves.set(payload, (moves.get(payload) ?? 0) + 1));
  await listener.connect();
  atEnd(() => listener.end());
  await listener.query(`
    CREATE FUNCTION tell_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('moves', OLD.invocation_id || ' ' || OLD.status || ' ' || TG_OP);
      RETURN NULL;
    END $$;
    CREATE TRIGGER moved AFTER UPDATE OF status OR DELETE ON work FOR EACH ROW EXECUTE FUNCTION tell_move();
    LISTEN moves`);
  return () => moves;
}
