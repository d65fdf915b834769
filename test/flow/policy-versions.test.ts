import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

const COMMENTED = `# What everybody may do.
rules:
  # Sums are harmless.
  - { id: maths, effect: allow, match: { tool: "cap:test_math:*" } } # all of them
`;
const OTHER = { rules: [{ id: 'other', effect: 'forbid' }] };

const ask = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) =>
  fetch(system.url + path, { ...init, headers: { authorization: `Bearer ${ADMIN_KEY}`, ...init.headers } });
const put = (name: string, text: string, headers: Record<string, string> = {}) =>
  ask(`/v1/policies/${name}`, {
    method: 'PUT',
    body: text,
    headers: { 'content-type': 'application/yaml', ...headers },
  });

describe('the text of a policy', () => {
  test('is kept with its comments, and returned in JSON and as YAML', async () => {
    const { version } = await system.admin.policies.put('text', COMMENTED);
    expect(await system.admin.policies.get('text')).toMatchObject({ version, text: COMMENTED });
    expect(await system.admin.policies.yaml('text')).toBe(COMMENTED);
    expect(await system.admin.policies.yaml('text', { version })).toBe(COMMENTED);
  });

  test('is generated from the document if that was sent as JSON', async () => {
    await system.admin.policies.put('json', OTHER);
    expect((await system.admin.policies.get('json')).text).toBeNull();
    expect(await system.admin.policies.yaml('json')).toBe('rules:\n  - id: other\n    effect: forbid\n');
  });

  test('makes a new version if only a comment changes, and none if nothing changes', async () => {
    const first = await system.admin.policies.put('comments', COMMENTED);
    const second = await system.admin.policies.put('comments', `${COMMENTED}# The end.\n`);
    expect(second).toMatchObject({ version: first.version + 1, policy_hash: first.policy_hash });
    expect((await system.admin.policies.put('comments', `${COMMENTED}# The end.\n`)).version).toBe(second.version);
    expect(await system.admin.policies.put('comments', first.document)).toMatchObject({
      version: second.version,
      text: `${COMMENTED}# The end.\n`,
    });
  });

  test('with a character that Postgres cannot store is refused as an invalid policy', async () => {
    await expect(system.admin.policies.put('nul', `${COMMENTED}# \0\n`)).rejects.toMatchObject({
      problem: { status: 400, code: 1002 },
    });
  });
});

describe('If-Match', () => {
  test('accepts the ETag of the current version, and refuses that of an older one', async () => {
    const made = await put('match', COMMENTED);
    const etag = made.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await ask('/v1/policies/match')).headers.get('etag')).toBe(etag);
    const yaml = await ask('/v1/policies/match', { headers: { accept: 'application/yaml' } });
    expect(yaml.headers.get('etag')).toBe(etag);

    const changed = await put('match', '# mine\nrules: []\n', { 'if-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);

    const late = await put('match', '# theirs\nrules: []\n', { 'if-match': etag });
    expect(late.status).toBe(412);
    expect(await late.json()).toMatchObject({
      type: 'urn:capstan:problem:precondition_failed',
      code: 3014,
      version: 2,
      suggestion: expect.stringContaining('Read the current version'),
    });
    expect(await system.admin.policies.yaml('match')).toBe('# mine\nrules: []\n');
  });

  test('lets one of several concurrent changes to the same version through', async () => {
    const { version: if_version } = await system.admin.policies.put('race', COMMENTED);
    const answers = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((who) => system.admin.policies.put('race', `# ${who}\nrules: []\n`, { if_version })),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await system.admin.policies.get('race')).version).toBe(if_version + 1);
  });

  test('with * is refused if there is no policy yet', async () => {
    expect((await put('nobody', COMMENTED, { 'if-match': '*' })).status).toBe(412);
    expect((await put('nobody', COMMENTED)).status).toBe(200);
    expect((await put('nobody', 'rules: []\n', { 'if-match': '"7", *' })).status).toBe(200);
  });
});

describe('a rollback', () => {
  test('puts an earlier version in force again as a new one, with its comments', async () => {
    await system.admin.policies.put('default', COMMENTED);
    const { version } = await system.admin.policies.get('default');
    await system.admin.policies.put('default', OTHER);
    const add = { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } };
    await expect(system.admin.submit(add)).rejects.toMatchObject({ problem: { code: 1001 } });

    const back = await system.admin.policies.rollback('default', version, { if_version: version + 1 });
    expect(back).toMatchObject({ version: version + 2, text: COMMENTED, warnings: [] });
    expect((await system.admin.submit(add, { wait_s: 30 })).status).toBe('succeeded');
  });

  test('to a version that was sent as JSON takes back comments that were added since', async () => {
    const { version } = await system.admin.policies.put('json', { rules: [] });
    const commented = `# later\n${await system.admin.policies.yaml('json')}`;
    expect((await system.admin.policies.put('json', commented)).version).toBe(version + 1);
    expect((await system.admin.policies.rollback('json', version)).version).toBe(version + 2);
    expect(await system.admin.policies.yaml('json')).not.toContain('# later');
  });

  test('is refused to a version that does not exist, and if the policy has changed meanwhile', async () => {
    const { version } = await system.admin.policies.put('back', COMMENTED);
    await system.admin.policies.put('back', OTHER);
    await expect(system.admin.policies.rollback('back', 99)).rejects.toMatchObject({ problem: { code: 3004 } });
    await expect(system.admin.policies.rollback('back', version, { if_version: version })).rejects.toMatchObject({
      problem: { code: 3014 },
    });
  });

  test('is allowed only to admins, and only of the policy of their own tenant', async () => {
    const { key: audit } = await system.admin.keys.create({ tenant: 'acme', actor: 'eve', roles: ['audit'] });
    const { key: admin } = await system.admin.keys.create({ tenant: 'acme', actor: 'boss', roles: ['admin'] });
    const roll = async (key: string) => {
      const response = await ask('/v1/policies/default/rollback', {
        method: 'POST',
        body: '{"version":1}',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      });
      return response.json();
    };
    expect(await roll(audit)).toMatchObject({ code: 6002 });
    expect(await roll(admin)).toMatchObject({ code: 6003 });
  });
});
