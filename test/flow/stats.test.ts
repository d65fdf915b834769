import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { refusalOf } from './refusal-of.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

test('the statistics of a tenant count its ended calls by runner type, tool and status', async () => {
  const calls = Array.from({ length: 20 }, (_, a) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } }));
  await system.admin.submitBulk(calls);
  const total = async (by: 'runner' | 'tool_id' | 'status') => {
    const { series, step_s } = await system.admin.stats.read({ by });
    expect(step_s).toBe(60);
    return series.map(({ points, ...of }) => ({ ...of, count: points.reduce((sum, { count }) => sum + count, 0) }));
  };
  await eventually(async () => (await total('runner'))[0]?.count === 20);
  expect(await total('runner')).toEqual([{ runner: 'builtin', count: 20 }]);
  expect(await total('tool_id')).toEqual([{ tool_id: 'cap:test_math:add', count: 20 }]);
  expect(await total('status')).toEqual([{ status: 'succeeded', count: 20 }]);
  const { key } = await system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['audit'] });
  expect((await system.clientFor(key).stats.read()).series).toEqual([]);
});

test('the current statistics count waiting and running calls of the tenant, and slots of the installation', async () => {
  await system.admin.queues.pause('builtin');
  const { invocation_id } = await system.admin.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 1 } });
  const of = async (key?: string) => {
    const { runners, holds } = await (key ? system.clientFor(key) : system.admin).stats.now();
    return { holds, builtin: runners.find(({ runner }) => runner === 'builtin') };
  };
  expect(await of()).toMatchObject({
    holds: { pending: 0, expiring: 0 },
    builtin: {
      queued: 1,
      running: 0,
      paused: true,
      workers: 1,
      slots: 8,
      oldest_waiting_at: expect.stringMatching(/Z$/),
    },
  });
  const { key } = await system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['submit'] });
  expect((await of(key)).builtin).toMatchObject({ queued: 0, oldest_waiting_at: null, slots: 8 });
  await system.admin.queues.resume('builtin');
  await system.admin.wait(invocation_id, { timeout_s: 60 });
});

test('statistics of an invalid period or step are refused with the reason', async () => {
  const wrong = async (query: object) => (await refusalOf(system.admin.stats.read(query))).message;
  expect(await wrong({ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' })).toMatch(
    'has to be before until',
  );
  expect(await wrong({ since: '2026-01-01T00:00:00Z', until: '2026-02-01T00:00:00Z', step: 300 })).toMatch(
    '1500 points',
  );
  expect(await wrong({ step: 7 })).toMatch('step');
});
