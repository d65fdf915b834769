import { describe, expect, test } from 'vitest';
import { naughtyStrings } from '../fixtures/naughty-strings.js';
import { submission, useGateway } from './use-gateway.js';

const { its, call, post } = useGateway();

describe('an answer of the gateway', () => {
  test.each([{ delay_ms: 600_000 }, { run_at: '2050-01-01T02:00:00.5+02:00', expires_in_ms: 60_000 }])(
    'to a submission has the same times in UTC as a later read: %o',
    async (over) => {
      const { json: taken } = await post(submission(over));
      const { run_at, expires_at } = await its.system.admin.get(taken.invocation_id);
      expect([taken.run_at, taken.expires_at].map(instant)).toEqual([run_at, expires_at].map(instant));
      expect(taken.run_at).toMatch(/Z$/);
    },
  );

  test('that is a list can be paged, however short the list', async () => {
    const { json: first } = await call('GET', '/v1/queues?limit=3');
    const { json: second } = await call('GET', `/v1/queues?limit=100&cursor=${first.next_cursor}`);
    expect(first.items).toHaveLength(3);
    expect(second).toMatchObject({ items: expect.any(Array), next_cursor: null });
    const { json: all } = await call('GET', '/v1/queues');
    expect([...first.items, ...second.items]).toEqual(all.items);
  });
});
/** Date keeps milliseconds and Postgres microseconds, so times are compared to the millisecond. */
const instant = (time: string | null) => time && Date.parse(time);

describe('keys', () => {
  test('a request without a key, or with a wrong one, is answered with 401', async () => {
    expect(await call('GET', '/v1/invocations', { key: null })).toMatchObject({ status: 401, json: { code: 6001 } });
    expect(await call('GET', '/v1/invocations', { key: 'cap_wrong' })).toMatchObject({
      status: 401,
      json: { code: 6001 },
    });
    expect((await call('GET', '/v1/keys', { key: null })).headers.get('www-authenticate')).toContain('Bearer');
  });

  test('a request that its key has no role for is answered with 403', async () => {
    const { key } = await its.system.admin.keys.create({ tenant: 'default', actor: 'reader', roles: ['audit'] });
    expect((await call('GET', '/v1/invocations', { key })).status).toBe(200);
    expect(await post(submission(), { key })).toMatchObject({ status: 403, json: { code: 6002 } });
    expect(await call('POST', '/v1/queues/exec/pause', { key })).toMatchObject({ status: 403, json: { code: 6002 } });
    expect(await call('GET', '/v1/keys', { key })).toMatchObject({ status: 403, json: { code: 6002 } });
  });

  test('a tenant never sees another tenant’s rows', async () => {
    const { key } = await its.system.admin.keys.create({
      tenant: 'other',
      actor: 'them',
      roles: ['submit', 'operate', 'audit'],
    });
    const them = its.system.clientFor(key);
    const ours = await its.system.admin.submit(submission(), { wait_s: 30 });
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/events'],
      ['POST', '/cancel'],
      ['POST', '/redrive'],
    ])
      expect(await call(method ?? '', `/v1/invocations/${ours.invocation_id}${path}`, { key })).toMatchObject({
        status: 404,
      });
    expect(await call('GET', `/v1/runs/${ours.run_id}`, { key })).toMatchObject({ status: 404 });
    expect((await them.list({}).page()).items).toEqual([]);
    // All tenants share the queues.
    expect(await call('POST', '/v1/queues/exec/pause', { key })).toMatchObject({ status: 403, json: { code: 6003 } });
    const theirs = await them.submit(submission({ idempotency_key: 'shared' }), { wait_s: 30 });
    const mine = await its.system.admin.submit(submission({ idempotency_key: 'shared' }), { wait_s: 30 });
    expect(theirs.invocation_id).not.toBe(mine.invocation_id);
  });

  test('an admin of another tenant manages only that tenant', async () => {
    const { key } = await its.system.admin.keys.create({ tenant: 'acme', actor: 'boss', roles: ['admin'] });
    const wanted = JSON.stringify({ tenant: 'default', actor: 'thief', roles: ['admin'] });
    expect(await call('POST', '/v1/keys', { key, body: wanted })).toMatchObject({ status: 403, json: { code: 6003 } });
    const { items } = await its.system.clientFor(key).keys.list().page();
    expect(items.map((one) => one.tenant)).toEqual(['acme']);
  });

  test('a deleted key is refused at once, and no key is stored in plain text', async () => {
    const made = await its.system.admin.keys.create({ tenant: 'default', actor: 'leaver', roles: ['submit'] });
    expect((await call('GET', '/v1/invocations', { key: made.key })).status).toBe(200);
    const stored = await its.system.store.db.selectFrom('keys').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(made.key);
    await its.system.admin.keys.delete(made.key_id);
    expect((await call('GET', '/v1/invocations', { key: made.key })).status).toBe(401);
  });
});

describe('policy', () => {
  test('a denial is on record with its decision', async () => {
    const { json } = await post({ tool_id: 'shell.run', inputs: { cmd: ['true'] } });
    expect(json.decision).toMatchObject({ effect: 'deny', code: 'NO_RULE' });
    expect(await its.system.admin.get(json.invocation_id)).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny' },
      result: null,
    });
  });

  test('a new version, also as YAML, is in force at once, and a broken one changes nothing', async () => {
    const yaml = 'boundary: deny_by_default\nrules:\n  - { id: all, effect: allow, match: { tool: "*" } }\n';
    const put = await call('PUT', '/v1/policies/default', {
      body: yaml,
      headers: { 'content-type': 'application/yaml' },
    });
    expect(put).toMatchObject({ status: 200, json: { name: 'default', version: 2 } });
    expect((await post({ tool_id: 'shell.run', inputs: { cmd: ['true'] } })).status).toBe(202);
    const broken = await call('PUT', '/v1/policies/default', { body: '{"boundary":"allow_all"}' });
    expect(broken).toMatchObject({ status: 400, json: { code: 1002 } });
    expect((await its.system.admin.policies.get('default')).version).toBe(2);
  });
});

test('naughty strings as tool ids and labels are refused or kept byte for byte', async () => {
  const strings = naughtyStrings();
  const { items } = await its.system.admin.submitBulk(
    strings.flatMap((text) => [{ tool_id: text, inputs: {} }, submission({ labels: { text }, delay_ms: 600_000 })]),
  );
  const labels = new Map<string, number>();
  for await (const one of its.system.admin.list({ status: 'deferred', limit: 1000 }))
    if (one.labels.text !== undefined) labels.set(one.labels.text, 1);
  items.forEach((item, index) => {
    if (index % 2 === 0) expect(item.status).toBe('invalid');
    else if (item.status === 'deferred') expect(labels.has(strings[(index - 1) / 2] ?? '')).toBe(true);
  });
});

describe('operations', () => {
  test('/healthz, /readyz and /metrics answer without a key', async () => {
    const open = { key: null };
    expect(await call('GET', '/healthz', open)).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await call('GET', '/readyz', open)).toMatchObject({
      status: 200,
      json: { ready: true, postgres: { ok: true } },
    });
    const metrics = await fetch(`${its.system.url}/metrics`).then((response) => response.text());
    expect(metrics).toContain('capstan_invocations{runner="exec",status="queued"}');
    expect(metrics).toContain('capstan_submissions_total{status="denied"}');
  });

  test('/openapi.json describes every route with its schemas', async () => {
    const { json } = await call('GET', '/openapi.json', { key: null });
    expect(json.openapi).toBe('3.1.0');
    const body = json.paths['/v1/invocations'].post.requestBody.content['application/json'].schema;
    expect(body.properties).toHaveProperty('idempotency_key');
    expect(body.additionalProperties).toBe(false);
    expect(Object.keys(json.paths)).toContain('/v1/invocations/{id}/events');
    expect(Object.keys(json.paths).filter((path) => path.includes('*'))).toEqual([]);
    const ids = Object.values<Record<string, { operationId: string }>>(json.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('workers are listed with their runner types, and queues with theirs', async () => {
    const workers = await its.system.admin.workers.list().page();
    expect(workers.items[0]).toMatchObject({ status: 'alive', runners: expect.arrayContaining(['builtin', 'exec']) });
    expect(workers.items[0]).toMatchObject({ concurrency: 64, running: 0, calls: [] });
    const queues = await its.system.admin.queues.list().page();
    expect(queues.items.find(({ runner }) => runner === 'browser')).toMatchObject({ slots: 8, oldest_wait_s: 0 });
  });
});
