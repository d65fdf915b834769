import { beforeAll, expect, test } from 'vitest';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
let system: System;
let first: string;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
  const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'billing-bot', roles: ['submit'] });
  const bot = system.clientFor(key);
  const done = { wait_s: 30 };
  first = (await bot.submit({ tool_id: ADD, inputs: { a: 1, b: 1 }, labels: { customer: 'Zürich_AG' } }, done))
    .invocation_id;
  await system.admin.submit({ tool_id: ADD, inputs: { a: 1, b: 2 } }, done);
  await system.admin
    .submit({ tool_id: 'shell.run', inputs: { cmd: ['no-such-program-here'] } }, done)
    .catch(() => null);
});

const found = async (q: string) =>
  (await system.admin.list({ q }).page()).items.map(({ invocation_id }) => invocation_id);

test.each([
  ['the beginning of its id', () => first.slice(0, 12)],
  ['its whole id', () => first],
  ['the beginning of the id of its run', () => first.replace('inv_', 'run_').slice(0, 14)],
  ['the id of its hold', () => first.replace('inv_', 'hld_')],
  ['a part of its actor, in any case', () => 'BILLING'],
  ['a part of the value of a label', () => 'rich_ag'],
])('a call is found by %s', async (_by, q) => {
  expect(await found(q())).toEqual([first]);
});

test('calls are found by a part of their tool or their error', async () => {
  expect(await found('test_math')).toHaveLength(2);
  const { items } = await system.admin.list({ tool_id: 'shell.run' }).page();
  expect(items).toHaveLength(1);
  const error = items[0]?.result?.error ?? '';
  expect(error).toContain('no-such-program-here');
  expect(await found('NO-SUCH-PROGRAM')).toEqual([items[0]?.invocation_id]);
  expect(await found('nothing like it')).toEqual([]);
});

test('SQL wildcards in a search match only themselves', async () => {
  expect([await found('%'), await found('\\'), await found('Z_rich')]).toEqual([[], [], []]);
});

test('counts take the same filters as the list, and include only the calls of the tenant', async () => {
  const counts = await system.admin.counts({ tool_id: ADD });
  expect(counts).toEqual({
    total: 2,
    status: { succeeded: 2 },
    runner: { builtin: 2 },
    tool_id: { [ADD]: 2 },
    actor: { 'billing-bot': 1, admin: 1 },
    capped: false,
  });
  expect((await system.admin.counts({ q: 'billing', status: ['succeeded', 'failed'] })).total).toBe(1);
  const { key } = await system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['audit'] });
  const eve = system.clientFor(key);
  expect([(await eve.counts()).total, (await eve.list({ q: first }).page()).items]).toEqual([0, []]);
});
