import { expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { eventually } from '../fixtures/eventually.js';
import { add, onUnlimitedSystem, sleep, succeeded, usageOf } from './on-unlimited-system.js';

/** Declares a medium cost, which counts as 10 units. */
const PAID = {
  ...{ atip: { version: '0.6' }, name: 'true', version: '1', description: 'Does nothing, and costs something' },
  effects: {
    ...{ idempotent: true, reversible: true, destructive: false, network: false, subprocess: false },
    ...{ filesystem: { read: false, write: false, delete: false }, cost: { estimate: 'medium', billable: false } },
  },
};
const PAID_CALLS = 'tool:atip:true:.';

onUnlimitedSystem((its) => {
  test('of runtime or calls per day counts what ran, and each limit warns once at 80 %', async () => {
    const { system } = its;
    const { webhook_id } = await system.admin.webhooks.create({
      url: 'http://127.0.0.1:1/',
      events: ['quota.warning'],
    });
    await system.admin.quotas.set('actor:default/admin', {
      max_runtime_ms_per_day: 20,
      calls_per_day: 5,
      on_exceed: 'deny',
    });
    await system.admin.submit(sleep('0.05'), { wait_s: 30 });
    expect((await usageOf(system, 'actor:default/admin'))?.runtime_ms_today).toBeGreaterThan(20);
    await expect(system.admin.submit(add(1))).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.set('actor:default/admin', { calls_per_day: 5, on_exceed: 'deny' });
    for (let a = 0; a < 4; a += 1) await system.admin.submit(add(a), { wait_s: 30 });
    await expect(system.admin.submit(add(1))).rejects.toMatchObject({ status: 429 });
    await system.admin.quotas.remove('actor:default/admin');
    // Warnings are sent in order: once this one has come, no earlier one is on its way.
    await system.admin.quotas.set('tenant:default', { calls_per_day: 1, on_exceed: 'deny' });
    await system.admin.submit(add(1));
    const warned = await eventually(async () => {
      const { items } = await system.admin.webhooks.deliveries(webhook_id).page();
      const subjects = items.map(({ subject }) => subject);
      return subjects.includes('tenant:default') && subjects;
    });
    expect(warned.sort()).toEqual(['actor:default/admin', 'actor:default/admin', 'tenant:default']);
    await system.admin.webhooks.remove(webhook_id);
  });

  test('of cost units reserves the expected cost of a call, and then counts the actual cost', async () => {
    const { system } = its;
    await system.admin.atipTools.add(PAID);
    await system.admin.quotas.set(PAID_CALLS, { max_cost_units_per_day: 25 });
    const calls = await Promise.all([1, 2, 3].map(() => system.admin.submit({ tool_id: 'atip:true:.', inputs: {} })));
    const ids = calls.map(({ invocation_id }) => invocation_id);
    const paid = () => query(system.database.url, `SELECT FROM results WHERE invocation_id IN ('${ids.join("','")}')`);
    await eventually(async () => expect(await paid()).toHaveLength(2));
    expect(await usageOf(system, PAID_CALLS)).toMatchObject({ waiting: 1, concurrent: 0, cost_units_today: 20 });
    // What a runner reports that knows the actual cost.
    await query(
      system.database.url,
      `UPDATE results SET facts = '{"cost_units": 1.5}' WHERE invocation_id IN ('${ids.join("','")}')`,
    );
    await succeeded(system, ids);
    expect(await usageOf(system, PAID_CALLS)).toMatchObject({ waiting: 0, cost_units_today: 13 });
  });

  test('of runtime reserves for each call the runtime of earlier ones', async () => {
    const { system } = its;
    // A scope that no earlier call was counted under.
    const SLEEPS = 'tool:shell.*';
    await system.admin.quotas.set(SLEEPS, { max_runtime_ms_per_day: 600_000 });
    await system.admin.submit(sleep('0.1'), { wait_s: 30 });
    const took = (await usageOf(system, SLEEPS))?.runtime_ms_today ?? 0;
    expect(took).toBeGreaterThanOrEqual(100);
    await system.admin.quotas.set(SLEEPS, { max_runtime_ms_per_day: Math.round(3.5 * took) });
    await system.admin.queues.pause('exec');
    const calls = await Promise.all([1, 2, 3].map(() => system.admin.submit(sleep('0'))));
    await eventually(async () => expect(await usageOf(system, SLEEPS)).toMatchObject({ concurrent: 2, waiting: 1 }));
    expect(Math.abs(((await usageOf(system, SLEEPS))?.runtime_ms_today ?? 0) - 3 * took)).toBeLessThan(3);
    await system.admin.queues.resume('exec');
    await system.admin.quotas.set(SLEEPS, { max_runtime_ms_per_day: 600_000 });
    await succeeded(
      system,
      calls.map(({ invocation_id }) => invocation_id),
    );
  });

  test.each([
    ['runner:foo', 'exec, analyze, browser, api, mcp, file, db, builtin'],
    ['runner:builtin:', 'exec, analyze, browser, api, mcp, file, db, builtin'],
    ['source:nosuch', 'capability, extension, mcp, atip, openapi, core, app'],
  ])('on the unknown scope %s is refused with the known names', async (scope, names) => {
    const { system } = its;
    await expect(system.admin.quotas.set(scope, { max_concurrent: 1 })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining(names),
    });
  });

  test('on an unknown scope that is already stored is still shown, and can be removed', async () => {
    const { system } = its;
    await query(
      system.database.url,
      `INSERT INTO quotas (scope, limits, on_exceed, updated_by) VALUES ('runner:foo', '{"max_concurrent": 1}', 'defer', 'admin')`,
    );
    expect(await usageOf(system, 'runner:foo')).toMatchObject({ scope: 'runner:foo' });
    await system.admin.quotas.remove('runner:foo');
    expect(await usageOf(system, 'runner:foo')).toBeUndefined();
  });

  test('can be set only by the default tenant', async () => {
    const { system } = its;
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'ann', roles: ['admin'] });
    const acme = system.clientFor(key);
    await expect(acme.quotas.set('tenant:acme', { max_concurrent: 1 })).rejects.toMatchObject({ status: 403 });
    await system.admin.quotas.set('tenant:acme', { max_concurrent: 3 });
    await system.admin.quotas.set('source:mcp', { max_concurrent: 3 });
    expect((await acme.quotas.list().page()).items.map(({ scope }) => scope)).toEqual(['tenant:acme']);
    await expect(system.admin.quotas.set('planet:mars', { max_concurrent: 1 })).rejects.toMatchObject({ status: 400 });
    await expect(system.admin.quotas.set('tenant:acme', {})).rejects.toMatchObject({ status: 400 });
  });
});
