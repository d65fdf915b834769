import { mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { JsonObject } from '@capstan/contracts';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { type System, startSystem } from './start-system.js';

/** An extension whose actions run on built-in runners and declare their own risk and effects. */
const ACTIONS: JsonObject[] = [
  {
    id: 'save',
    description: 'Keep a note',
    runner: 'file.write',
    preset: { path: '{{name}}' },
    risk: 'LOW',
    side_effects: [],
  },
  { id: 'load', description: 'Show a note', runner: 'file.read', preset: { path: '{{name}}' }, risk: 'LOW' },
  {
    ...{ id: 'count', description: 'Count', runner: 'exec.echo', argv: ['{{text}}'], output: 'json', risk: 'LOW' },
    ...{ side_effects: [], output_schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
  },
  { id: 'fetch', description: 'Look at a page', runner: 'api.get', risk: 'MED' },
  { id: 'pay', description: 'Pay an invoice', runner: 'exec.echo', argv: ['{{to}}'] },
  { id: 'echo', description: 'Repeat a text', runner: 'exec.echo', argv: ['{{text}}'], risk: 'HIGH', side_effects: [] },
];
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [{ id: 'notes', effect: 'allow', match: { tool: 'ext:notes:*', risk_max: 'CRITICAL' } }],
  tools: {
    'fs.write': { allow_paths: ['notes/**'] },
    'ext:notes:fetch': { allow_domains: ['*'], deny_private_ips: false },
  },
} satisfies JsonObject;

let system: System;
let workspace: string;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  workspace = join(system.worker_dirs[0] ?? '', 'workspace');
  await system.admin.policies.put('default', POLICY);
  await system.admin.extensions.install({
    manifest: {
      id: 'notes',
      name: 'Notes',
      version: '1.0.0',
      permissions_required: ['exec', 'network', 'filesystem.write'],
    },
    commands: { slash_commands: [{ name: '/notes', actions: ACTIONS }] },
  });
});

const startRedirect = async (location: string): Promise<string> => {
  const server = createServer((_, response) => void response.writeHead(302, { location }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

const call = (action: string, inputs: JsonObject) =>
  system.admin.submit({ tool_id: `ext:notes:${action}`, inputs, session_id: 'ses_notes' }, { wait_s: 30 });

describe('an action of an extension', () => {
  test('reads and writes workspace files where policy allows it for that tool', async () => {
    expect(await call('save', { name: 'notes/a.txt', content: 'hello' })).toMatchObject({ status: 'succeeded' });
    expect(await call('load', { name: 'notes/a.txt' })).toMatchObject({ result: { payload: { content: 'hello' } } });
    expect(await call('save', { name: 'elsewhere.txt', content: 'x' })).toMatchObject({ status: 'denied' });
  });

  test('that declares LOW and no side effects is LOW, whatever the permissions of its extension', async () => {
    expect(await system.admin.tools.get('ext:notes:load')).toMatchObject({ risk: 'MED' });
    expect(await system.admin.tools.get('ext:notes:count')).toMatchObject({ risk: 'LOW' });
    expect(await system.admin.tools.get('ext:notes:pay')).toMatchObject({
      risk: 'CRITICAL',
      side_effects: expect.arrayContaining(['payments']),
    });
  });

  test('fails if its output does not match its schema, and says which field is wrong', async () => {
    expect(await call('count', { text: '{"n": 3}' })).toMatchObject({ status: 'succeeded' });
    expect(await call('count', { text: '{"n": "three"}' })).toMatchObject({
      status: 'failed',
      result: { code: 2014, error: expect.stringContaining('output.json.n'), payload: { json: { n: 'three' } } },
    });
  });

  test('only logs a warning about output that does not match its schema if policy says so', async () => {
    await system.admin.policies.put('default', {
      ...POLICY,
      limits: [{ match: { tool: 'ext:notes:count' }, output_schema: 'warn' }],
    });
    const warned = await call('count', { text: '{"n": "three"}' });
    await system.admin.policies.put('default', POLICY);
    expect(warned).toMatchObject({ status: 'succeeded' });
    const logged: string[] = [];
    for await (const event of system.admin.events(warned.invocation_id))
      if (event.event === 'log') logged.push(event.data.text);
    expect(logged.join('')).toContain('warning: the output does not match');
  });
});

describe('a call that is refused while it runs', () => {
  test('because of a symlink ends denied with the rule, in the counts of its run and in the audit log', async () => {
    await mkdir(join(workspace, 'notes'), { recursive: true });
    await symlink('/etc', join(workspace, 'notes', 'etc'));
    const { run_id } = await system.admin.runs.submit({
      plan: { version: '1.0', steps: [{ id: 'peek', tool: 'ext:notes:load', args: { name: 'notes/etc/passwd' } }] },
    });
    await eventually(async () => expect(await system.admin.runs.get(run_id)).toMatchObject({ status: 'failed' }));
    expect(await system.admin.runs.get(run_id)).toMatchObject({ denied_steps: 1, failed_steps: 0 });
    const [step] = (await system.admin.runs.steps(run_id).page()).items;
    expect(step).toMatchObject({ status: 'denied' });
    const report = await system.admin.records.report(run_id);
    expect(report.steps).toMatchObject([
      { status: 'denied', decision: { effect: 'deny', rule_matched: 'symlink_escape' } },
    ]);
    const { items } = await system.admin.audit
      .list({ event: 'invocation.deny', subject: step?.invocation_id ?? '' })
      .page();
    expect(items).toMatchObject([{ detail: { rule_matched: 'symlink_escape' } }]);
    expect(await system.admin.records.verify(run_id)).toMatchObject({ ok: true });
  });

  test('because of a redirect to a private address ends denied, and names the hosts it had contacted', async () => {
    const denied = await call('fetch', { url: await startRedirect('http://169.254.169.254/latest/') });
    expect(denied).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny', rule_matched: 'deny_private_ips=true' },
      result: { success: false, code: 1010, facts: { observed: { domains: ['127.0.0.1'] } } },
    });
  });
});

describe('the audit of executions', () => {
  const eventsOf = async (subject: string) => (await system.admin.audit.list({ subject }).page()).items;

  test('names tool, action, runner, session, exit code and error of every call', async () => {
    const failed = await call('count', { text: 'no JSON' });
    const end = (await eventsOf(failed.invocation_id)).find(({ event }) => event === 'invocation.end');
    expect(end?.executions).toMatchObject([
      {
        ...{ invocation_id: failed.invocation_id, tool_id: 'ext:notes:count', action: 'count', runner: 'exec' },
        ...{ command: 'echo {{text}}', session_id: 'ses_notes', exit_code: 0, error: expect.stringContaining('JSON') },
      },
    ]);
    const exported = [];
    for await (const { executions } of system.admin.audit.export({ event: 'invocation.end', subject: end?.subject }))
      exported.push(executions);
    expect(exported).toEqual([end?.executions]);
  });

  test('also records the start of calls of HIGH risk and above, and the inputs of CRITICAL ones', async () => {
    const low = await call('count', { text: '{"n": 1}' });
    const high = await call('echo', { text: 'hello' });
    const critical = await call('pay', { to: 'ann' });
    const starts = async (subject: string) =>
      (await eventsOf(subject)).filter(({ event }) => event === 'invocation.start');
    expect(await starts(low.invocation_id)).toEqual([]);
    const [ofHigh] = await starts(high.invocation_id);
    expect(ofHigh).toMatchObject({ detail: { risk: 'HIGH', tool_id: 'ext:notes:echo', command: 'echo {{text}}' } });
    expect(ofHigh?.detail.inputs).toBeUndefined();
    expect(await starts(critical.invocation_id)).toMatchObject([
      { detail: { risk: 'CRITICAL', inputs: { to: 'ann' } } },
    ]);
    expect((await system.admin.audit.verify()).mismatches).toEqual([]);
  });
});

test('a report groups the resources that a run used, as Capsule does', async () => {
  const { run_id } = await call('save', { name: 'notes/c.txt', content: 'x' });
  const { summary } = await system.admin.records.report(run_id);
  expect(summary.resources).toEqual({
    ...{ files_read: [], files_written: ['notes/c.txt'], domains_contacted: [], processes: 0 },
  });
});

test('an agent has its id as both id and agent_id', async () => {
  const agent = await system.admin.agents.create({ name: 'a', capabilities: [] });
  expect(agent.id).toBe(agent.agent_id);
  expect(await system.admin.agents.get(agent.id)).toMatchObject({ id: agent.agent_id });
});
