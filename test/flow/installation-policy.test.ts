import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CLOSED_INSTALLATION, INSTALLATION_POLICY } from '@capstan/contracts';
import { boundBy } from '@capstan/store/policy';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

/** Everything that an admin of a tenant could ask for. */
const GREEDY = {
  ...ALLOW_ALL,
  tools: { 'http.get': { allow_domains: ['*'], deny_private_ips: false } },
  limits: [{ shell: true, deny_private_ips: false, env: ['PATH', 'HOME'], sandbox: 'preferred' }],
};

let system: System;
let acme: System['admin'];
let url: string;
const reached: string[] = [];
beforeAll(async () => {
  const server = createServer((request, response) => {
    reached.push(request.url ?? '');
    if (request.url === '/cut') request.socket.destroy();
    else response.end('inside');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  system = await startSystem({ name: 'postgres' }, { installation: CLOSED_INSTALLATION });
  const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'eve', roles: ['admin'] });
  acme = system.clientFor(key);
  await acme.policies.put('acme', GREEDY);
});
const putInstallation = (document: object) => system.admin.policies.put(INSTALLATION_POLICY, document);
beforeEach(() => putInstallation(CLOSED_INSTALLATION));
const wait = { wait_s: 30 };
const get = (path: string) => ({ tool_id: 'http.get', inputs: { url: `${url}${path}` } });
const shell = (...cmd: string[]) => ({ tool_id: 'shell.run', inputs: { cmd } });

describe('the policy of the installation', () => {
  test('keeps a tenant from private addresses, shells and the environment of the worker, whatever its own policy says', async () => {
    await expect(acme.submit(get('/closed'))).rejects.toMatchObject({
      problem: {
        decision: { rule_matched: 'deny_private_ips=true', decided_by: 'installation' },
        suggestion: expect.stringContaining('--name _installation'),
      },
    });
    expect(reached).not.toContain('/closed');
    await expect(acme.submit(shell('sh', '-c', 'true'))).rejects.toMatchObject({
      problem: { decision: { rule_matched: 'executables[sh]', decided_by: 'installation' } },
    });
    const { limits, lowered } = await acme.policies.explain(shell('true'));
    expect(limits).toMatchObject({ deny_private_ips: true, env: [], shell: false, sandbox: 'required' });
    expect(lowered).toEqual(['deny_private_ips', 'env', 'sandbox', 'shell']);
  });

  test('can open private addresses and shells to the tenants that it names', async () => {
    await putInstallation({ limits: [{ match: { tenant: 'acme' }, deny_private_ips: false, shell: true }] });
    expect(await acme.submit(get('/open'), wait)).toMatchObject({ status: 'succeeded' });
    expect(await acme.submit(shell('sh', '-c', 'true'), wait)).toMatchObject({ status: 'succeeded' });
    await system.admin.policies.put('default', GREEDY);
    await expect(system.admin.submit(get('/of-default'))).rejects.toMatchObject({
      problem: { decision: { decided_by: 'installation' } },
    });
  });

  test('can be read and changed only by admins of the default tenant', async () => {
    const forbidden = { problem: { status: 403 } };
    await expect(acme.policies.put(INSTALLATION_POLICY, CLOSED_INSTALLATION)).rejects.toMatchObject(forbidden);
    await expect(acme.policies.get(INSTALLATION_POLICY)).rejects.toMatchObject(forbidden);
    const names = (await acme.policies.versions().page()).items.map(({ name }) => name);
    expect(names).not.toContain(INSTALLATION_POLICY);
    const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'sue', roles: ['submit', 'operate'] });
    await expect(system.clientFor(key).policies.put(INSTALLATION_POLICY, {})).rejects.toMatchObject(forbidden);
    const tenant = { tenant: INSTALLATION_POLICY, actor: 'eve', roles: ['admin' as const] };
    await expect(system.admin.keys.create(tenant)).rejects.toMatchObject({ problem: { status: 400 } });
    expect((await system.admin.policies.get(INSTALLATION_POLICY)).document).toEqual(CLOSED_INSTALLATION);
  });

  test('cannot contain allow rules, and cannot be supplied by a tenant', async () => {
    const invalid = { problem: { status: 400, code: 1002 } };
    await expect(putInstallation(ALLOW_ALL)).rejects.toMatchObject(invalid);
    const own = { ...GREEDY, installation: { limits: [{ shell: true }] } };
    await expect(acme.policies.put('acme', own)).rejects.toMatchObject(invalid);
    const plan = { steps: [{ id: 'a', tool: 'http.get', args: { url: `${url}/brought` } }] };
    await expect(acme.runs.submit({ plan, policy: own })).rejects.toMatchObject(invalid);
    await expect(acme.policies.put('run:x', GREEDY)).rejects.toMatchObject({ problem: { status: 400 } });
  });

  test('bounds runs with their own policy, dry runs, and replays, which use the version in force at the time of the replay', async () => {
    const plan = { steps: [{ id: 'a', tool: 'http.get', args: { url: `${url}/run` } }] };
    const dry = await acme.runs.dryRun({ plan, policy: GREEDY });
    expect(dry.steps).toMatchObject([{ decision: { effect: 'deny', decided_by: 'installation' } }]);
    await putInstallation({ limits: [{ deny_private_ips: false }] });
    const { run_id } = await acme.runs.submit({ plan, policy: GREEDY });
    expect(await acme.runs.wait(run_id)).toMatchObject({ status: 'completed' });
    await putInstallation(CLOSED_INSTALLATION);
    const before = reached.length;
    const replayed = await acme.records.replay(run_id, { from: 'a' });
    expect(await acme.runs.wait(replayed.run_id)).toMatchObject({ status: 'failed' });
    expect(reached.length).toBe(before);
  });

  test('applies to a redriven call that was admitted before it became stricter', async () => {
    await putInstallation({ limits: [{ deny_private_ips: false }] });
    const failed = await acme.submit({ ...get('/cut'), max_attempts: 1 }, wait);
    expect(failed).toMatchObject({ status: 'failed' });
    await putInstallation(CLOSED_INSTALLATION);
    const before = reached.length;
    await acme.redrive(failed.invocation_id);
    const again = () => acme.get(failed.invocation_id).then(({ status }) => status);
    await expect.poll(again).toBe('denied');
    expect(reached.length).toBe(before);
  });

  test('is part of the policy hash of a call, which is stored with both documents and verifies', async () => {
    const ceiling = { rules: [{ id: 'no-math', effect: 'forbid' as const, match: { tool: 'cap:test_math:divide' } }] };
    await putInstallation(ceiling);
    const sum = await acme.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } }, wait);
    const { document } = await acme.policies.get('acme');
    expect(sum.policy_hash).toBe(boundBy(document, ceiling).policy_hash);
    expect((await acme.records.verify(sum.run_id)).mismatches).toEqual([]);
    const [stored] = await system.store.db
      .selectFrom('policies')
      .select('document')
      .where('policy_hash', '=', sum.policy_hash)
      .execute();
    expect(stored?.document).toEqual({ ...document, installation: ceiling });
    const divide = { tool_id: 'cap:test_math:divide', inputs: { a: 1, b: 2 } };
    expect(await acme.policies.explain(divide)).toMatchObject({
      ...{ effect: 'deny', rule_matched: 'no-math', decided_by: 'installation' },
      rules: [
        { id: 'all', matched: true },
        { id: 'no-math', matched: true, of: 'installation' },
      ],
    });
  });

  test('voids a release when it changes before the run', async () => {
    const hold = { rules: [{ id: 'ask', effect: 'hold', approvals: { allow_self: true } }] };
    await acme.policies.put('acme', hold);
    const held = await acme.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } });
    await system.admin.queues.pause('builtin');
    await acme.holds.release(held.hold_id ?? '');
    await putInstallation({ limits: [{ timeout_ms: 5000 }] });
    await system.admin.queues.resume('builtin');
    await expect.poll(async () => (await acme.get(held.invocation_id)).status).toBe('held');
    await acme.policies.put('acme', GREEDY);
  });
});
