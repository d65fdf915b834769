import { CapstanError } from '@capstan/client';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const sum = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };

describe('a gateway', () => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem({ name: 'postgres' }, { max_requests: 2 });
  });
  const refusal = () =>
    system.admin.submit(sum).then(
      () => null,
      (error: unknown) => error,
    );
  const execute = async (sql: string) => {
    const client = new pg.Client({
      connectionString: system.database.url,
      options: '-c default_transaction_read_only=off',
    });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const setReadOnly = (on: boolean) =>
    execute(`
      DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${on}', current_database());
      END $$`);

  test('at its limit of concurrent submissions refuses the next, and still answers reads', async () => {
    const { admin } = system;
    await admin.queues.pause('builtin');
    const waiting = [admin.submit(sum, { wait_s: 30 }), admin.submit(sum, { wait_s: 30 })];
    await eventually(async () => expect((await admin.list({ status: ['queued'] }).page()).items).toHaveLength(2));
    const refused = await refusal();
    expect(refused).toBeInstanceOf(CapstanError);
    expect(refused).toMatchObject({ status: 503, code: 5003, retry_after_s: expect.any(Number) });
    expect(await (await fetch(`${system.url}/metrics`)).text()).toContain(
      'capstan_requests_shed_total{reason="requests"} 1',
    );
    await admin.queues.resume('builtin');
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    await eventually(() => admin.submit(sum));
  });

  test('answers 503 with Retry-After while Postgres is read-only, and accepts submissions again afterwards', async () => {
    await setReadOnly(true);
    await execute(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name IN ('gateway', 'coordinator', 'worker', 'capstan-signals')`);
    await eventually(async () =>
      expect(await refusal()).toMatchObject({
        status: 503,
        code: 5001,
        retry_after_s: 2,
        detail: 'Postgres takes no writes at the moment.',
      }),
    );
    await expect(system.admin.policies.put('default', ALLOW_ALL)).rejects.toMatchObject({ status: 503, code: 5001 });
    // Open sessions stay read-only and only new ones can write, as after a failover.
    await setReadOnly(false);
    await eventually(() => system.admin.policies.put('default', ALLOW_ALL));
    expect(await eventually(() => system.admin.submit(sum, { wait_s: 30 }))).toMatchObject({ status: 'succeeded' });
  });
});
