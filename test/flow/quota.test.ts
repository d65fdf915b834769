import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { holdIdOf } from '@capstan/contracts';
import { request } from 'undici';
import { expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import {
  ADD,
  ALLOW_ALL,
  add,
  mostAtOnce,
  onUnlimitedSystem,
  sleep,
  succeeded,
  usageOf,
} from './on-unlimited-system.js';
import { ADMIN_KEY } from './start-system.js';

const BUSY_MS = 20;
const SLEEP = 'tool:shell.run';
const GET = 'tool:http.get';

/** A tool that takes a while for each call, and counts how many run at the same time. */
async function startBusyTool() {
  const seen = { calls: 0, running: 0, most: 0 };
  const server = createServer((_, response) => {
    seen.calls += 1;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    setTimeout(() => {
      seen.running -= 1;
      response.end('{}');
    }, BUSY_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, seen };
}

onUnlimitedSystem((its, queue) => {
  test('of 5 concurrent calls holds for 200 submissions at once, as seen by the tool, and other tools do not wait', async () => {
    const { system } = its;
    const tool = await startBusyTool();
    await system.admin.quotas.set(GET, { max_concurrent: 5 });
    const get = { tool_id: 'http.get', inputs: { url: tool.url } };
    const limited = await Promise.all(Array.from({ length: 200 }, () => system.admin.submit(get)));
    expect(limited.every(({ status }) => status === 'deferred')).toBe(true);
    const free = await Promise.all(
      Array.from({ length: 50 }, (_, index) => system.admin.submit(add(index), { wait_s: 30 })),
    );
    expect(free.every(({ status }) => status === 'succeeded')).toBe(true);
    const meanwhile = await usageOf(system, GET);
    expect(meanwhile?.concurrent).toBeLessThanOrEqual(5);
    expect(meanwhile?.waiting).toBeGreaterThan(0);
    const ids = limited.map(({ invocation_id }) => invocation_id);
    await succeeded(system, ids);
    expect(await mostAtOnce(system, ids)).toBeLessThanOrEqual(5);
    expect(tool.seen).toMatchObject({ calls: 200, most: 5 });
    expect(await usageOf(system, GET)).toMatchObject({ waiting: 0, concurrent: 0, calls_today: 200 });
  });

  test('that denies answers 429 with Retry-After, and records the denial', async () => {
    const { system } = its;
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
    expect(problem).toMatchObject({
      code: 7001,
      limit: 'calls_per_day',
      scope: ADD,
      suggestion: expect.stringMatching(/^Try again in \d+ (s|minutes|hours), /),
    });
    expect(await system.admin.get(problem.invocation_id)).toMatchObject({
      status: 'denied',
      decision: { code: 'QUOTA_EXCEEDED' },
    });
    expect(await usageOf(system, ADD)).toMatchObject({ calls_today: 10 });
    const bulk = await system.admin.submitBulk([add(1), sleep('0')]);
    expect(bulk.items.map(({ status, problem }) => [status, problem?.status])).toEqual([
      ['denied', 429],
      ['queued', undefined],
    ]);
    await system.admin.quotas.remove(ADD);
    expect(await system.admin.submit(add(1), { wait_s: 30 })).toMatchObject({ status: 'succeeded' });
  });

  test('that defers a call answers with rate limit headers, and the call says what it waits for', async () => {
    const { system } = its;
    await system.admin.quotas.set(ADD, { max_concurrent: 1 });
    await system.admin.queues.pause('builtin');
    const { invocation_id } = await system.admin.submit(add(1));
    await eventually(async () => expect(await usageOf(system, ADD)).toMatchObject({ concurrent: 1, waiting: 0 }));
    const deferred = await request(`${system.url}/v1/invocations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(add(2)),
    });
    const waits = (await deferred.body.json()) as { invocation_id: string };
    expect(waits).toMatchObject({ status: 'deferred' });
    expect(deferred.headers).toMatchObject({
      ratelimit: `"${ADD}";r=0;t=1`,
      'ratelimit-policy': `"${ADD}";q=1;w=1`,
    });
    expect(await system.admin.get(waits.invocation_id)).toMatchObject({ waits_for: [ADD] });
    await system.admin.queues.resume('builtin');
    await succeeded(system, [invocation_id, waits.invocation_id]);
    expect(await system.admin.get(waits.invocation_id)).toMatchObject({ waits_for: [] });
  });

  test.each([
    'tenant:default',
    'actor:default/admin',
    'actor:admin',
    'tool:cap:test_math:add',
    'source:capability',
    'runner:builtin',
  ])('on %s applies to its calls', async (scope) => {
    const { system } = its;
    await system.admin.quotas.set(scope, { calls_per_minute: 0, calls_per_day: 5, on_exceed: 'deny' });
    await expect(system.admin.submit(add(1))).rejects.toMatchObject({
      status: 429,
      problem: { scope, limit: 'calls_per_minute' },
    });
    await system.admin.quotas.set(scope, { calls_per_minute: 0 });
    const { invocation_id } = await system.admin.submit(add(1));
    expect(await usageOf(system, scope)).toMatchObject({ waiting: 1, calls_this_minute: 0 });
    await system.admin.quotas.remove(scope);
    await succeeded(system, [invocation_id]);
  });

  test('that denies leaves a new idempotency key unused, and still answers a known one', async () => {
    const { system } = its;
    const first = await system.admin.submit({ ...add(1), idempotency_key: 'taken' }, { wait_s: 30 });
    await system.admin.quotas.set(ADD, { calls_per_day: 0, on_exceed: 'deny' });
    expect(await system.admin.submit({ ...add(1), idempotency_key: 'taken' })).toMatchObject({
      invocation_id: first.invocation_id,
    });
    await expect(system.admin.submit({ ...add(2), idempotency_key: 'free' })).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.remove(ADD);
    expect(await system.admin.submit({ ...add(2), idempotency_key: 'free' }, { wait_s: 30 })).toMatchObject({
      status: 'succeeded',
    });
  });

  test('applies to redriven calls', async () => {
    const { system } = its;
    await system.admin.quotas.set(SLEEP, { max_concurrent: 1 });
    const failing = { tool_id: 'shell.run', inputs: { cmd: ['false'] } };
    const failed = await Promise.all(
      [1, 2, 3].map(() => system.admin.submit({ ...failing, labels: { redrive: queue.name } }, { wait_s: 30 })),
    );
    expect(failed.map(({ status }) => status)).toEqual(Array(3).fill('failed'));
    await system.admin.redriveMany({ label: `redrive:${queue.name}` });
    const ids = failed.map(({ invocation_id }) => invocation_id);
    await eventually(async () => {
      const [{ count }] = await query(
        system.database.url,
        `SELECT count(*)::int FROM ended_attempts WHERE invocation_id IN ('${ids.join("','")}')`,
      );
      expect(count).toBe(6);
    });
    expect(await mostAtOnce(system, ids)).toBe(1);
  });

  test('is fair: a call waits for only a few calls of another tenant, however many that tenant has waiting', async () => {
    const { system } = its;
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
      `SELECT count(*)::int AS before FROM invocation_states flood, invocation_states call
       WHERE call.invocation_id = '${invocation_id}' AND flood.run_id = '${run_id}' AND flood.started_at < call.started_at`,
    );
    expect(before).toBeLessThanOrEqual(6);
  });

  test('counts right after a worker was lost, and releases waiting calls when it is removed', async () => {
    const { system } = its;
    await system.admin.quotas.set(ADD, { max_concurrent: 1 });
    await system.admin.queues.pause('builtin');
    const calls = await Promise.all([1, 2, 3].map((a) => system.admin.submit(add(a))));
    await eventually(async () => expect(await usageOf(system, ADD)).toMatchObject({ concurrent: 1, waiting: 2 }));
    await query(
      system.database.url,
      `INSERT INTO workers (worker_id, runners, host, pid, concurrency, lease_until) VALUES ('wrk_gone', '{builtin}', 'h', 1, 1, now());
       WITH taken AS (DELETE FROM work WHERE status = 'queued' AND quota_scopes IS NOT NULL RETURNING invocation_id, runner)
       INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts, under_quota)
       SELECT 'clm_gone', runner, 'wrk_gone', now(), ARRAY[invocation_id], '{1}', '{1}', true FROM taken`,
    );
    await system.admin.queues.resume('builtin');
    const ids = calls.map(({ invocation_id }) => invocation_id);
    await succeeded(system, ids);
    expect(await mostAtOnce(system, ids)).toBe(1);
    expect(await usageOf(system, ADD)).toMatchObject({ concurrent: 0, waiting: 0, calls_today: expect.any(Number) });

    await system.admin.queues.pause('builtin');
    const more = await Promise.all([1, 2].map((a) => system.admin.submit(add(a))));
    await system.admin.quotas.remove(ADD);
    await system.admin.queues.resume('builtin');
    await succeeded(
      system,
      more.map(({ invocation_id }) => invocation_id),
    );
  });

  test('applies to calls that are released from a hold, which then wait for room', async () => {
    const { system } = its;
    const WEATHER = 'cap:test_weather:get_weather';
    const hold = { id: 'ask', effect: 'hold', match: { tool: WEATHER }, approvals: { allow_self: true } } as const;
    await system.admin.policies.put('default', { ...ALLOW_ALL, rules: [...ALLOW_ALL.rules, hold] });
    await system.admin.quotas.set('runner:builtin', { max_concurrent: 1, on_exceed: 'deny' });
    await system.admin.queues.pause('builtin');
    const first = await system.admin.submit(add(1));
    const held = await system.admin.submit({ tool_id: WEATHER, inputs: { city: 'Bern' } });
    expect([first.status, held.status]).toEqual(['queued', 'held']);
    await system.admin.holds.release(holdIdOf(held.invocation_id));
    expect((await system.admin.get(held.invocation_id)).status).toBe('deferred');
    expect(await usageOf(system, 'runner:builtin')).toMatchObject({ concurrent: 1, waiting: 1 });
    await system.admin.queues.resume('builtin');
    await succeeded(
      system,
      [first, held].map(({ invocation_id }) => invocation_id),
    );
  });

  test('applies to delayed calls and to plan steps', async () => {
    const { system } = its;
    await system.admin.quotas.set(ADD, { max_concurrent: 1 });
    const delayed = await system.admin.submit({ ...add(1), delay_ms: 20 }, { wait_s: 30 });
    expect(delayed).toMatchObject({ status: 'succeeded' });
    const steps = [1, 2, 3].map((a) => ({ id: `s${a}`, tool: add(a).tool_id, args: add(a).inputs, needs: [] }));
    const { run_id } = await system.admin.runs.submit({ plan: { steps } });
    expect(await system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ status: 'completed' });
    const { items } = await system.admin.list({ run_id }).page();
    expect(
      await mostAtOnce(
        system,
        items.map(({ invocation_id }) => invocation_id),
      ),
    ).toBe(1);
  });
});
