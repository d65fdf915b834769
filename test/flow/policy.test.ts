import type { WhatIfLine } from '@capstan/contracts';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

const ADD = 'cap:test_math:add';
const add = (over: object = {}) => ({ tool_id: ADD, inputs: { a: 1, b: 2 }, ...over });
const put = (document: object | string) => system.admin.policies.put('default', document);
const allowing = (over: object = {}) => ({ rules: [{ id: 'maths', effect: 'allow', match: { tool: ADD }, ...over }] });
const wait = { wait_s: 30 };

describe('a call under policy', () => {
  test('runs if its labels and roles match a rule, at admission and again in the worker', async () => {
    await put(
      allowing({
        match: { tool: ADD, labels: { env: 'dev' }, roles: 'admin' },
        if: "inputs.a < 5 && labels.env == 'dev'",
      }),
    );
    expect(await system.admin.submit(add({ labels: { env: 'dev' } }), wait)).toMatchObject({
      status: 'succeeded',
      decision: { rule_matched: 'maths', rules: [{ id: 'maths', matched: true }] },
    });
    await expect(system.admin.submit(add({ labels: { env: 'prod' } }))).rejects.toMatchObject({
      problem: { detail: expect.stringContaining('the label env is prod, not dev') },
    });
  });

  test('that is denied suggests what to add to the policy, and adding it is enough', async () => {
    await put({ boundary: 'deny_by_default' });
    const denied = await system.admin.submit(add()).catch((error: unknown) => error);
    expect(denied).toMatchObject({ problem: { code: 1001, suggestion: expect.stringContaining('match: { tool:') } });
    const { suggestion } = (denied as { problem: { suggestion: string } }).problem;
    await put(suggestion.split('\n').slice(1, -1).join('\n'));
    expect((await system.admin.submit(add(), wait)).status).toBe('succeeded');
  });

  test('of shell.run is denied at first, and the suggested policy allows only that program', async () => {
    await put({ boundary: 'deny_by_default' });
    const echo = { tool_id: 'shell.run', inputs: { cmd: ['echo', 'hello'] } };
    const denied = await system.admin.submit(echo).catch((error: unknown) => error);
    const { suggestion } = (denied as { problem: { suggestion: string } }).problem;
    await put(suggestion.split('\n').slice(1, -1).join('\n'));
    expect(await system.admin.submit(echo, wait)).toMatchObject({ status: 'succeeded' });
    await expect(system.admin.submit({ tool_id: 'shell.run', inputs: { cmd: ['id'] } })).rejects.toMatchObject({
      problem: { decision: { rule_matched: 'allow_executables' } },
    });
  });

  test('of a program that can start others is denied with the profile to add, which allows only its arguments', async () => {
    await put({ tools: { 'shell.run': { allow_executables: ['git', 'sort'] } } });
    const run = (...cmd: string[]) => ({ tool_id: 'shell.run', inputs: { cmd } });
    expect(await system.admin.submit(run('git', '--version'), wait)).toMatchObject({
      status: 'succeeded',
      decision: { limits: { exec_once: 'preferred' } },
    });
    const denied = await system.admin.submit(run('git', 'init', '-q')).catch((error: unknown) => error);
    expect(denied).toMatchObject({ problem: { decision: { rule_matched: 'executables[git]', decided_by: 'tenant' } } });
    const { suggestion } = (denied as { problem: { suggestion: string } }).problem;
    expect(suggestion).toContain('executables: { git: { profiles: ["write"] } }');
    await put(suggestion.split('\n').slice(1, -1).join('\n'));
    expect(await system.admin.submit(run('git', 'init', '-q'), wait)).toMatchObject({ status: 'succeeded' });
    await expect(system.admin.submit(run('git', '-c', 'alias.x=!id', 'x'))).rejects.toMatchObject({
      problem: { decision: { rule_matched: 'executables[git]' } },
    });
  });

  test('cannot be given an unknown profile: the policy is refused with the known ones', async () => {
    await expect(
      put({ tools: { 'shell.run': { executables: { git: { profiles: ['reed'] } } } } }),
    ).rejects.toMatchObject({
      problem: {
        code: 1002,
        detail: expect.stringContaining('reed is no profile of git; there are read, write, fetch'),
      },
    });
  });

  test('that is held says how many people have to agree and when it expires', async () => {
    await put({
      rules: [{ id: 'two', effect: 'hold', match: { tool: ADD }, approvals: { required: 2, expires_in_ms: 60_000 } }],
    });
    const held = await system.admin.submit(add());
    expect(held).toMatchObject({ status: 'held', decision: { approvals: { required: 2, allow_self: false } } });
    const { created_at, expires_at } = await system.admin.get(held.invocation_id);
    expect(Date.parse(expires_at ?? '') - Date.parse(created_at)).toBe(60_000);
  });

  test('under an approved specification runs until the approval is revoked', async () => {
    await put({ ...allowing(), risk: { LOW: { require_spec_frozen: true } } });
    const spec_hash = `sha256:${'a'.repeat(64)}`;
    const inside = add({ spec_frozen: true, spec_hash });
    const mismatch = { problem: { decision: { code: 'SPEC_HASH_MISMATCH' } } };
    await expect(system.admin.submit(inside)).rejects.toMatchObject(mismatch);
    const { grant_id } = await system.admin.grants.create({ kind: 'plan', plan_hash: spec_hash });
    expect((await system.admin.submit(inside, wait)).status).toBe('succeeded');
    await system.admin.grants.revoke(grant_id);
    await expect(system.admin.submit(inside)).rejects.toMatchObject(mismatch);
  });

  test('counts towards max_calls_per_tool within its bulk submission', async () => {
    await put({ ...allowing(), max_calls_per_tool: 2 });
    const { items } = await system.admin.submitBulk([add(), add(), add()]);
    expect(items.map(({ status }) => status)).toEqual(['queued', 'queued', 'denied']);
  });
});

describe('explain', () => {
  test('gives the decision and its reasons, also for a draft, and records nothing', async () => {
    await put(allowing());
    const before = await system.store.db.selectFrom('invocations').select('invocation_id').execute();
    const explanation = await system.admin.policies.explain({
      ...add(),
      actor: 'bob',
      roles: ['submit'],
      policy: 'rules:\n  - { id: mine, effect: allow, match: { actor: ann } }\n  - { id: all, effect: hold }\n',
    });
    expect(explanation).toMatchObject({
      effect: 'hold',
      rules: [
        { id: 'mine', matched: false, why: 'the actor is bob, not ann' },
        { id: 'all', matched: true },
      ],
    });
    expect(await system.admin.policies.explain(add())).toMatchObject({ effect: 'allow', suggestion: null });
    expect(await system.admin.policies.explain(add({ inputs: { a: 'x', b: 2 } }))).toMatchObject({
      effect: 'deny',
      allowed: false,
      code: 'INVALID_INPUTS',
      reason: 'the tool does not take these inputs: inputs.a must be a number, not a string',
      errors: [{ field: 'inputs.a', message: 'must be a number, not a string' }],
      suggestion: 'Correct the inputs: inputs.a must be a number, not a string.',
    });
    expect(await system.admin.policies.explain(add({ inputs: { b: 'x' } }))).toMatchObject({
      suggestion: 'Correct the inputs: inputs.a is required; inputs.b must be a number, not a string.',
    });
    expect(await system.admin.policies.explain({ tool_id: add().tool_id })).toMatchObject({ effect: 'allow' });
    const after = await system.store.db.selectFrom('invocations').select('invocation_id').execute();
    expect(after.length).toBe(before.length);
  });

  test('gives the line and column of a mistake in a draft', async () => {
    const policy = 'rules:\n  - id: a\n    effect: allow\n    mach: {}\n';
    await expect(system.admin.policies.explain({ ...add(), policy })).rejects.toMatchObject({
      problem: { code: 1002, detail: 'line 4, column 5: rules.0.mach: is not a known field' },
    });
  });
});

describe('names in a policy', () => {
  const forbid = (tool: string) => ({
    rules: [
      { id: 'all', effect: 'allow' },
      { id: 'no-shell', effect: 'forbid', match: { tool } },
    ],
  });

  test('are resolved in rules as in calls', async () => {
    await put(forbid('shell_run'));
    for (const tool_id of ['shell.run', 'shell_run'])
      await expect(system.admin.submit({ tool_id, inputs: { cmd: ['true'] } })).rejects.toMatchObject({
        problem: { decision: { rule_matched: 'no-shell' } },
      });
  });

  test('that match no known tool get a warning in the answer', async () => {
    const { warnings } = await put({
      ...forbid('shell.runn'),
      tools: { 'ext:nowhere:*': { allow_paths: [] }, fs_read: {} },
      limits: [{ match: { tool: ['shell_run', 'cap:*', 'mcp:?', 'mcp:*'] }, timeout_ms: 1000 }],
    });
    expect(warnings).toEqual([
      { field: 'tools', message: 'ext:nowhere:* matches no known tool' },
      { field: 'rules.1.match.tool', message: 'shell.runn matches no known tool' },
      { field: 'limits.0.match.tool', message: 'mcp:? matches no known tool' },
    ]);
    expect((await put(forbid('shell_run'))).warnings).toEqual([]);
  });
});

describe('versions of a policy', () => {
  test('are kept, listed, and read by their number and as YAML', async () => {
    const first = await put(allowing({ reason: 'the first' }));
    const second = await put(allowing({ reason: 'the second' }));
    const { items } = await system.admin.policies.versions({ name: 'default', limit: 2 }).page();
    expect(items.map(({ version }) => version)).toEqual([second.version, first.version]);
    const listed: number[] = [];
    for await (const { version } of system.admin.policies.versions({ name: 'default', limit: 2 })) listed.push(version);
    expect(listed).toEqual(Array.from({ length: second.version }, (_, at) => second.version - at));
    const old = await system.admin.policies.get('default', { version: first.version });
    expect(old.document).toEqual(first.document);
    const yaml = await system.admin.policies.yaml('default');
    expect(yaml).toContain('reason: the second');
    expect(await put(yaml)).toMatchObject({ version: second.version, policy_hash: second.policy_hash });
  });

  test('of other tenants are not shown', async () => {
    await system.admin.policies.put('rival', allowing());
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'eve', roles: ['admin'] });
    const client = system.clientFor(key);
    const names = new Set((await client.policies.versions().page()).items.map(({ name }) => name));
    expect([...names]).toEqual(['default']);
    await expect(client.policies.get('rival')).rejects.toMatchObject({ problem: { status: 403 } });
  });
});

describe('what-if', () => {
  const draft = { rules: [{ id: 'small', effect: 'allow', match: { tool: ADD }, if: 'inputs.a < 3' }] };
  let tenant: System['admin'];
  beforeEach(async () => {
    const name = `tenant-${Math.random().toString(36).slice(2, 10)}`;
    const { key } = await system.admin.keys.create({ tenant: name, actor: 'ann', roles: ['admin'] });
    tenant = system.clientFor(key);
    await tenant.policies.put(name, allowing());
    await tenant.submitBulk([1, 2, 3, 4].map((a) => add({ inputs: { a, b: 0 } })));
  });

  test('counts the decisions that a draft would change, and lists as many as asked for', async () => {
    const answer = await tenant.policies.whatIf({ policy: draft, limit: 1 });
    expect(answer).toMatchObject({ total: 4, checked: 4, changed: 2, changes: { 'allow → deny': 2 }, more: 1 });
    expect(answer.items).toMatchObject([
      { tool_id: ADD, actor: 'ann', was: { effect: 'allow', rule_matched: 'maths' }, would_be: { effect: 'deny' } },
    ]);
  });

  test('checks only the calls of its own tenant in the time asked for', async () => {
    const now = new Date(Date.now() + 60_000).toISOString();
    expect(await tenant.policies.whatIf({ policy: draft, since: now })).toMatchObject({ checked: 0 });
    expect(await tenant.policies.whatIf({ policy: draft, until: now })).toMatchObject({ checked: 4 });
  });

  test('is streamed with its progress', async () => {
    const lines: WhatIfLine[] = [];
    for await (const line of tenant.policies.whatIfLines({ policy: draft })) lines.push(line);
    expect(lines.map(({ kind }) => kind)).toEqual(['changed', 'changed', 'progress', 'done']);
    expect(lines.at(-1)).toMatchObject({ checked: 4, changed: 2, unknown_tools: 0 });
  });

  test('refuses an invalid draft before it starts to stream', async () => {
    const response = await fetch(`${system.url}/v1/policy/what-if`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMIN_KEY}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
      },
      body: JSON.stringify({ policy: { rulse: [] } }),
    });
    expect(response.status).toBe(400);
  });
});
