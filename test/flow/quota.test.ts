import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';

const add = (a: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } });
const sleep = (seconds: string) => ({ tool_id: 'shell.run', inputs: { cmd: ['sleep', seconds] } });
const SLEEP = 'tool:shell.run';
const ADD = 'tool:cap:test_math:*';

describe.each(queues)('a quota on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue, { workers: 2 });
    await system.admin.policies.put('default', ALLOW_ALL);
  });
  const usage = async (scope: string) =>
    (await system.admin.quotas.usage().page()).items.find((one) => one.scope === scope);
  const ended = (ids: string[]) =>
    eventually(
      async () => {
        const [{ count }] = await query(
          system.database.url,
          `SELECT count(*)::int FROM invocations WHERE status = 'succeeded' AND invocation_id IN ('${ids.join("','")}')`,
        );
        expect(count).toBe(ids.length);
      },
      { timeout_ms: 60_000 },
    );
  /** The most attempts that were under way at a time, by when they were claimed and settled. */
  const mostAtOnce = async (ids: string[]): Promise<number> => {
    const [{ most }] = await query(
      system.database.url,
      `SELECT max(running)::int AS most FROM (
         SELECT sum(step) OVER (ORDER BY at, step) AS running FROM (
           SELECT started_at AS at, 1 AS step FROM attempts WHERE invocation_id IN ('${ids.join("','")}')
           UNION ALL SELECT ended_at, -1 FROM attempts WHERE invocation_id IN ('${ids.join("','")}')
         ) moves
       ) counted`,
    );
    return most;
  };

  test('of 5 at once is kept by 200 submissions at once, and nobody else waits', async () => {
    await system.admin.quotas.set(SLEEP, { max_concurrent: 5 });
    const limited = await Promise.all(Array.from({ length: 200 }, () => system.admin.submit(sleep('0.001'))));
    expect(limited.every(({ status }) => status === 'deferred')).toBe(true);
    const free = await Promise.all(
      Array.from({ length: 50 }, (_, index) => system.admin.submit(add(index), { wait_s: 20 })),
    );
    expect(free.every(({ status }) => status === 'succeeded')).toBe(true);
    expect((await usage(SLEEP))?.concurrent).toBeLessThanOrEqual(5);
    const ids = limited.map(({ invocation_id }) => invocation_id);
    await ended(ids);
    const most = await mostAtOnce(ids);
    expect(most).toBeLessThanOrEqual(5);
    expect(most).toBeGreaterThan(1);
    expect(await usage(SLEEP)).toMatchObject({ waiting: 0, concurrent: 0, calls_today: 200 });
    await system.admin.quotas.remove(SLEEP);
  }, 90_000);

  test('that denies says so with 429, when to come back, and on record', async () => {
    await system.admin.quotas.set(ADD, { calls_per_day: 10, on_exceed: 'deny' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        request(`${system.url}/v1/invocations`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify(add(index)),
        }),
      ),
    );
    const denied = answers.filter(({ statusCode }) => statusCode === 429);
    expect([answers.length - denied.length, denied.length]).toEqual([10, 20]);
    const taken = answers.find(({ statusCode }) => statusCode === 202);
    expect(taken?.headers).toMatchObject({
      ratelimit: expect.stringContaining(`"${ADD}";r=`),
      'ratelimit-policy': `"${ADD}";q=10;w=86400`,
    });
    expect(denied[0]?.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      ratelimit: expect.stringContaining('r=0'),
    });
    const problem = (await denied[0]?.body.json()) as { code: number; invocation_id: string; limit: string };
    expect(problem).toMatchObject({ code: 7001, limit: 'calls_per_day', scope: ADD });
    expect(await system.admin.get(problem.invocation_id)).toMatchObject({
      status: 'denied',
      decision: { code: 'QUOTA_EXCEEDED' },
    });
    expect(await usage(ADD)).toMatchObject({ calls_today: 10 });
    const bulk = await system.admin.submitBulk([add(1), sleep('0')]);
    expect(bulk.items.map(({ status, problem }) => [status, problem?.status])).toEqual([
      ['denied', 429],
      ['queued', undefined],
    ]);
    await system.admin.quotas.remove(ADD);
    expect(await system.admin.submit(add(1), { wait_s: 10 })).toMatchObject({ status: 'succeeded' });
  });

  test('that denies leaves an idempotency key free, and answers one that it has taken before', async () => {
    const first = await system.admin.submit({ ...add(1), idempotency_key: 'taken' }, { wait_s: 10 });
    await system.admin.quotas.set(ADD, { calls_per_day: 0, on_exceed: 'deny' });
    expect(await system.admin.submit({ ...add(1), idempotency_key: 'taken' })).toMatchObject({
      invocation_id: first.invocation_id,
    });
    await expect(system.admin.submit({ ...add(2), idempotency_key: 'free' })).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.remove(ADD);
    expect(await system.admin.submit({ ...add(2), idempotency_key: 'free' }, { wait_s: 10 })).toMatchObject({
      status: 'succeeded',
    });
  });

  test('is kept by what is redriven', async () => {
    await system.admin.quotas.set(SLEEP, { max_concurrent: 1 });
    const failing = { tool_id: 'shell.run', inputs: { cmd: ['false'] } };
    const failed = await Promise.all(
      [1, 2, 3].map(() => system.admin.submit({ ...failing, labels: { redrive: queue.name } }, { wait_s: 20 })),
    );
    expect(failed.map(({ status }) => status)).toEqual(Array(3).fill('failed'));
    await system.admin.redriveMany({ label: `redrive:${queue.name}` });
    const ids = failed.map(({ invocation_id }) => invocation_id);
    await eventually(
      async () => {
        const [{ count }] = await query(
          system.database.url,
          `SELECT count(*)::int FROM attempts WHERE invocation_id IN ('${ids.join("','")}')`,
        );
        expect(count).toBe(6);
      },
      { timeout_ms: 20_000 },
    );
    expect(await mostAtOnce(ids)).toBe(1);
    await system.admin.quotas.remove(SLEEP);
  }, 60_000);

  test('is fair: a call waits for a few of another tenant, however many that one has waiting', async () => {
    await system.admin.quotas.set('runner:builtin', { max_concurrent: 1 });
    const { key } = await system.admin.keys.create({ tenant: 'globex', actor: 'gil', roles: ['submit'] });
    await system.admin.queues.pause('builtin');
    const { run_id } = await system.admin.submitBulk(Array.from({ length: 50 }, (_, index) => add(index)));
    const { invocation_id } = await system.clientFor(key).submit(add(-1));
    await system.admin.queues.resume('builtin');
    await eventually(async () => expect(await system.admin.runs.get(run_id)).toMatchObject({ status: 'completed' }), {
      timeout_ms: 30_000,
    });
    const [{ before }] = await query(
      system.database.url,
      `SELECT count(*)::int AS before FROM invocations flood, invocations call
       WHERE call.invocation_id = '${invocation_id}' AND flood.run_id = '${run_id}' AND flood.started_at < call.started_at`,
    );
    expect(before).toBeLessThanOrEqual(6);
    await system.admin.quotas.remove('runner:builtin');
  }, 60_000);

  test('is right after a worker was lost, and lets go of what waits when it is removed', async () => {
    await system.admin.quotas.set(ADD, { max_concurrent: 1 });
    await system.admin.queues.pause('builtin');
    const calls = await Promise.all([1, 2, 3].map((a) => system.admin.submit(add(a))));
    await eventually(async () => expect(await usage(ADD)).toMatchObject({ concurrent: 1, waiting: 2 }));
    await query(
      system.database.url,
      `INSERT INTO workers (worker_id, runners, host, pid, concurrency, lease_until) VALUES ('wrk_gone', '{builtin}', 'h', 1, 1, now());
       UPDATE invocations SET status = 'running', attempt = 1, worker_id = 'wrk_gone', started_at = now()
       WHERE status = 'queued' AND quota_scopes IS NOT NULL`,
    );
    await system.admin.queues.resume('builtin');
    const ids = calls.map(({ invocation_id }) => invocation_id);
    await ended(ids);
    expect(await mostAtOnce(ids)).toBe(1);
    expect(await usage(ADD)).toMatchObject({ concurrent: 0, waiting: 0, calls_today: expect.any(Number) });

    await system.admin.queues.pause('builtin');
    const more = await Promise.all([1, 2].map((a) => system.admin.submit(add(a))));
    await system.admin.quotas.remove(ADD);
    await system.admin.queues.resume('builtin');
    await ended(more.map(({ invocation_id }) => invocation_id));
  }, 60_000);

  test('of a budget counts what ran, and warns once at 80 %', async () => {
    const { webhook_id } = await system.admin.webhooks.create({
      url: 'http://127.0.0.1:1/',
      events: ['quota.warning'],
    });
    await system.admin.quotas.set('actor:default/admin', {
      max_runtime_ms_per_day: 20,
      calls_per_day: 5,
      on_exceed: 'deny',
    });
    await system.admin.submit(sleep('0.05'), { wait_s: 10 });
    expect((await usage('actor:default/admin'))?.runtime_ms_today).toBeGreaterThan(20);
    await expect(system.admin.submit(add(1))).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.set('actor:default/admin', { calls_per_day: 5, on_exceed: 'deny' });
    for (let a = 0; a < 4; a += 1) await system.admin.submit(add(a), { wait_s: 10 });
    await expect(system.admin.submit(add(1))).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.remove('actor:default/admin');
    const { items } = await eventually(async () => {
      const log = await system.admin.webhooks.deliveries(webhook_id).page();
      return log.items.length >= 2 && log;
    });
    expect(items.map(({ type, subject }) => [type, subject])).toEqual(
      Array(2).fill(['quota.warning', 'actor:default/admin']),
    );
    await system.admin.webhooks.remove(webhook_id);
  });

  test('holds for what is delayed and for steps of a plan', async () => {
    await system.admin.quotas.set(ADD, { max_concurrent: 1 });
    const delayed = await system.admin.submit({ ...add(1), delay_ms: 20 }, { wait_s: 20 });
    expect(delayed).toMatchObject({ status: 'succeeded' });
    const steps = [1, 2, 3].map((a) => ({ id: `s${a}`, tool: add(a).tool_id, args: add(a).inputs, needs: [] }));
    const { run_id } = await system.admin.runs.submit({ plan: { steps } });
    expect(await system.admin.runs.wait(run_id, { timeout_s: 20 })).toMatchObject({ status: 'completed' });
    const { items } = await system.admin.list({ run_id }).page();
    expect(await mostAtOnce(items.map(({ invocation_id }) => invocation_id))).toBe(1);
    await system.admin.quotas.remove(ADD);
  });

  test('is set by the default tenant alone', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'ann', roles: ['admin'] });
    const acme = system.clientFor(key);
    await expect(acme.quotas.set('tenant:acme', { max_concurrent: 1 })).rejects.toMatchObject({ status: 403 });
    await system.admin.quotas.set('tenant:acme', { max_concurrent: 3 });
    await system.admin.quotas.set('source:mcp', { max_concurrent: 3 });
    expect((await acme.quotas.list().page()).items.map(({ scope }) => scope)).toEqual(['tenant:acme']);
    await expect(system.admin.quotas.set('planet:mars', { max_concurrent: 1 })).rejects.toMatchObject({ status: 400 });
    await expect(system.admin.quotas.set('tenant:acme', {})).rejects.toMatchObject({ status: 400 });
    for (const scope of ['tenant:acme', 'source:mcp']) await system.admin.quotas.remove(scope);
  });
});
