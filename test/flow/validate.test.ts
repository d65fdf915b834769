import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { refusalOf } from './refusal-of.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
const add = (over: object = {}) => ({ tool_id: ADD, inputs: { a: 1, b: 2 }, ...over });
const EFFECTS = {
  ...{ idempotent: true, reversible: true, destructive: false, network: false, subprocess: false },
  filesystem: { read: false, write: false, delete: false },
};
const OPTIONS = [{ name: 'times', flags: ['--times'], type: 'integer', description: 'How often' }];
const GREETER = {
  ...{ atip: { version: '0.6' }, name: 'greeter', version: '1.0.0', description: 'Greets' },
  commands: { greet: { description: 'Greets somebody', options: OPTIONS, effects: EFFECTS } },
};

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});
beforeEach(() => system.admin.policies.put('default', ALLOW_ALL));

const rowsOn = async (table: string): Promise<number> => {
  const [{ count }] = await query(system.database.url, `SELECT count(*)::int FROM ${table}`);
  return count;
};
const recorded = () => Promise.all(['invocations', 'results', 'work', 'audit', 'quota_uses'].map(rowsOn));

describe('a submission that is only validated', () => {
  test('is answered with the decision and the first status, and records nothing', async () => {
    await system.admin.policies.put('default', {
      version: '1.0',
      rules: [
        { id: 'sums', effect: 'allow', match: { tool: ADD } },
        { id: 'ask', effect: 'hold', match: { tool: 'cap:test_math:divide' } },
      ],
    });
    const before = await recorded();
    expect(await system.admin.validate(add({ idempotency_key: 'k1' }))).toMatchObject({
      tool_id: ADD,
      status: 'queued',
      inputs: { a: 1, b: 2 },
      warnings: [],
      decision: { effect: 'allow', rule_matched: 'sums' },
      suggestion: null,
    });
    expect(await system.admin.validate(add({ delay_ms: 1000 }))).toMatchObject({ status: 'deferred' });
    expect(await system.admin.validate(add({ tool_id: 'cap:test_math:divide' }))).toMatchObject({ status: 'held' });
    expect(await system.admin.validate({ tool_id: 'shell.run', inputs: { cmd: ['true'] } })).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny', code: 'NO_RULE' },
      suggestion: expect.any(String),
    });
    expect(await recorded()).toEqual(before);
  });

  test('is refused like a real one for an unknown tool, wrong inputs or an unknown field', async () => {
    const before = await recorded();
    expect(await refusalOf(system.admin.validate(add({ tool_id: 'nope' })))).toMatchObject({ status: 404, code: 2001 });
    expect(await refusalOf(system.admin.validate(add({ inputs: { a: 1, b: 'two' } })))).toMatchObject({
      status: 422,
      problem: { errors: [{ field: 'inputs.b', message: 'must be a number, not a string' }] },
    });
    expect(await refusalOf(system.admin.validate(add({ prioritee: 1 })))).toMatchObject({ status: 400, code: 3002 });
    expect(await recorded()).toEqual(before);
  });

  test('is answered with the inputs as the tool would get them', async () => {
    await system.admin.atipTools.add(GREETER);
    const sent = { tool_id: 'atip:greeter:greet', inputs: { times: '3', often: true } };
    const { inputs, warnings } = await system.admin.validate(sent);
    expect(inputs).toEqual({ times: 3 });
    expect(warnings).toEqual([expect.stringContaining('often')]);
  });

  test('is denied by a quota that is used up, and does not count against a quota', async () => {
    const scope = `tool:${ADD}`;
    await system.admin.quotas.set(scope, { calls_per_day: 1, on_exceed: 'deny' });
    for (let times = 0; times < 3; times += 1) expect((await system.admin.validate(add())).status).toBe('queued');
    await system.admin.submit(add(), { wait_s: 30 });
    expect(await system.admin.validate(add())).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny', code: 'QUOTA_EXCEEDED', rule_matched: `calls_per_day ${scope}` },
      suggestion: expect.stringContaining('Try again in'),
    });
    await system.admin.quotas.remove(scope);
  });
});
