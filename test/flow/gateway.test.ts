import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

const call = async (
  method: string,
  path: string,
  {
    key = ADMIN_KEY,
    body,
    headers = {},
  }: { key?: string | null; body?: string; headers?: Record<string, string> } = {},
) => {
  const response = await fetch(`${system.url}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    headers: response.headers,
    text,
    json: text ? JSON.parse(text) : null,
  };
};
const post = (body: unknown, options: { key?: string } = {}) =>
  call('POST', '/v1/invocations', { ...options, body: typeof body === 'string' ? body : JSON.stringify(body) });
const submission = (over: object = {}) => ({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 }, ...over });

describe('every error is a problem with a code and a suggestion', () => {
  test.each([
    ['malformed JSON', '{"tool_id": ', 400, 3001],
    ['an empty body', '', 400, 3002],
    ['an unknown field', submission({ prioritee: 1 }), 400, 3002],
    ['a wrong type', submission({ timeout_ms: 'soon' }), 400, 3002],
    ['both delay_ms and run_at', submission({ delay_ms: 1, run_at: '2030-01-01T00:00:00Z' }), 400, 3002],
    ['an array for inputs', submission({ inputs: [] }), 400, 3002],
    ['inputs that the tool does not take', submission({ inputs: { a: 1 } }), 422, 2002],
    ['half of a surrogate pair', `{"tool_id":"shell.run","inputs":{"cmd":["\\ud800"]}}`, 422, 2002],
    ['an unknown tool', submission({ tool_id: 'cap:test_math:ad' }), 404, 2001],
    ['a tool that no rule allows', { tool_id: 'shell.run', inputs: { cmd: ['true'] } }, 403, 1001],
    ['a body over the limit', submission({ inputs: { a: 1, b: 2, c: 'x'.repeat(1_100_000) } }), 413, 3003],
  ])('%s', async (_, body, status, code) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status, type: expect.stringContaining('application/problem+json') });
    expect(answer.json).toMatchObject({
      status,
      code,
      type: expect.any(String),
      title: expect.any(String),
      detail: expect.any(String),
      suggestion: expect.any(String),
    });
    expect(answer.text).not.toContain('node_modules');
  });

  test('a wrong field is named', async () => {
    const { json } = await post(submission({ inputs: { a: 1, b: 'two' } }));
    expect(json.errors).toEqual([{ field: 'inputs.b', message: 'must be number' }]);
  });

  test('an unknown tool comes with what may have been meant', async () => {
    const { json } = await post(submission({ tool_id: 'cap:test_math:ad' }));
    expect(json.suggestion).toContain('cap:test_math:add');
  });

  test('another content type', async () => {
    const answer = await call('POST', '/v1/invocations', { body: '<a/>', headers: { 'content-type': 'text/xml' } });
    expect(answer).toMatchObject({ status: 415, json: { code: 3007 } });
  });

  test.each(['/v1/nothing', '/', '/v1/invocations/inv_x/nothing'])('no such route: %s', async (path) => {
    expect(await call('GET', path)).toMatchObject({ status: 404, json: { code: 3008 } });
  });

  test.each([
    ['PUT', '/v1/invocations', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/keys/key_x', 'DELETE'],
    ['DELETE', '/v1/invocations/cancel', 'GET, HEAD, POST'],
    ['PATCH', '/v1/sessions/ses_x/files/a/b.txt?x=1', 'DELETE, GET, HEAD, PUT'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['GET', '/mcp', 'POST'],
  ])('no %s at %s: the methods that there are come with the answer', async (method, path, allow) => {
    const answer = await call(method, path, { key: null });
    expect(answer).toMatchObject({
      status: 405,
      type: expect.stringContaining('application/problem+json'),
      json: {
        status: 405,
        code: 3013,
        detail: `There is no ${method} ${path.split('?')[0]}.`,
        suggestion: expect.any(String),
      },
    });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test('an unknown field also where nothing is to be sent', async () => {
    const answer = await call('POST', '/v1/invocations/inv_x/cancel', { body: '{"reason":"x"}' });
    expect(answer).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test('a character that Postgres cannot store', async () => {
    expect(await call('GET', '/v1/holds/a%00b')).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test.each([
    ['what is no HTTP', 'HELLO\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s', async (_, sent, status) => {
    const socket = connect(Number(new URL(system.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(sent);
    const answer = await readText(socket);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status, suggestion: expect.any(String) });
  });

  test.each(['inv_unknown', 'x'.repeat(500), '..%2f..%2fetc', "'; DROP TABLE invocations; --"])(
    'no such id: %s',
    async (id) => {
      expect(await call('GET', `/v1/invocations/${encodeURIComponent(id)}`)).toMatchObject({ status: 404 });
    },
  );

  test.each([
    'cursor=abc',
    'limit=0',
    'limit=9999999',
    'status=sleeping',
    'colour=red',
    'since=yesterday',
    'since=0000-01-01T00:00:00Z',
    'tool_id=',
    'label=%00',
  ])('a wrong query: %s', async (query) => {
    expect(await call('GET', `/v1/invocations?${query}`)).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test.each([{}, { label: [] }, { status: [] }, { tool_id: '' }])(
    'a filter that would act on everything: %o',
    async (filter) => {
      for (const act of ['cancel', 'redrive'])
        expect(await call('POST', `/v1/invocations/${act}`, { body: JSON.stringify(filter) })).toMatchObject({
          status: 400,
        });
    },
  );

  test('a wait that is no number', async () => {
    expect(await call('POST', '/v1/invocations?wait=soon', { body: JSON.stringify(submission()) })).toMatchObject({
      status: 400,
    });
  });
});

describe('an answer', () => {
  test.each([{ delay_ms: 600_000 }, { run_at: '2050-01-01T02:00:00.5+02:00', expires_in_ms: 60_000 }])(
    'at once has the times that are read later, in UTC: %o',
    async (over) => {
      const { json: taken } = await post(submission(over));
      const { run_at, expires_at } = await system.admin.get(taken.invocation_id);
      expect([taken.run_at, taken.expires_at].map(instant)).toEqual([run_at, expires_at].map(instant));
      expect(taken.run_at).toMatch(/Z$/);
    },
  );

  test('that is a list comes in pages, also where all would fit', async () => {
    const { json: first } = await call('GET', '/v1/queues?limit=3');
    const { json: second } = await call('GET', `/v1/queues?limit=100&cursor=${first.next_cursor}`);
    expect(first.items).toHaveLength(3);
    expect(second).toMatchObject({ items: expect.any(Array), next_cursor: null });
    const { json: all } = await call('GET', '/v1/queues');
    expect([...first.items, ...second.items]).toEqual(all.items);
  });
});
/** Date keeps milliseconds, Postgres microseconds; to the millisecond they have to agree. */
const instant = (time: string | null) => time && Date.parse(time);

describe('keys', () => {
  test('without a key, or with a wrong one, nothing is answered', async () => {
    expect(await call('GET', '/v1/invocations', { key: null })).toMatchObject({ status: 401, json: { code: 6001 } });
    expect(await call('GET', '/v1/invocations', { key: 'cap_wrong' })).toMatchObject({
      status: 401,
      json: { code: 6001 },
    });
    expect((await call('GET', '/v1/keys', { key: null })).headers.get('www-authenticate')).toContain('Bearer');
  });

  test('a role is needed for what it is for', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'reader', roles: ['audit'] });
    expect((await call('GET', '/v1/invocations', { key })).status).toBe(200);
    expect(await post(submission(), { key })).toMatchObject({ status: 403, json: { code: 6002 } });
    expect(await call('POST', '/v1/queues/exec/pause', { key })).toMatchObject({ status: 403, json: { code: 6002 } });
    expect(await call('GET', '/v1/keys', { key })).toMatchObject({ status: 403, json: { code: 6002 } });
  });

  test('a tenant never sees another tenant’s rows', async () => {
    const { key } = await system.admin.keys.create({
      tenant: 'other',
      actor: 'them',
      roles: ['submit', 'operate', 'audit'],
    });
    const them = system.clientFor(key);
    const ours = await system.admin.submit(submission(), { wait_s: 10 });
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
    // The queues are everybody's.
    expect(await call('POST', '/v1/queues/exec/pause', { key })).toMatchObject({ status: 403, json: { code: 6003 } });
    const theirs = await them.submit(submission({ idempotency_key: 'shared' }), { wait_s: 10 });
    const mine = await system.admin.submit(submission({ idempotency_key: 'shared' }), { wait_s: 10 });
    expect(theirs.invocation_id).not.toBe(mine.invocation_id);
  });

  test('an admin of another tenant manages that tenant alone', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'boss', roles: ['admin'] });
    const wanted = JSON.stringify({ tenant: 'default', actor: 'thief', roles: ['admin'] });
    expect(await call('POST', '/v1/keys', { key, body: wanted })).toMatchObject({ status: 403, json: { code: 6003 } });
    const { items } = await system.clientFor(key).keys.list().page();
    expect(items.map((one) => one.tenant)).toEqual(['acme']);
  });

  test('a deleted key is refused at once, and no key is stored as it is', async () => {
    const made = await system.admin.keys.create({ tenant: 'default', actor: 'leaver', roles: ['submit'] });
    expect((await call('GET', '/v1/invocations', { key: made.key })).status).toBe(200);
    const stored = await system.store.db.selectFrom('keys').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(made.key);
    await system.admin.keys.delete(made.key_id);
    expect((await call('GET', '/v1/invocations', { key: made.key })).status).toBe(401);
  });
});

describe('policy', () => {
  test('a denial is on record with its decision', async () => {
    const { json } = await post({ tool_id: 'shell.run', inputs: { cmd: ['true'] } });
    expect(json.decision).toMatchObject({ effect: 'deny', code: 'NO_RULE' });
    expect(await system.admin.get(json.invocation_id)).toMatchObject({
      status: 'denied',
      decision: { effect: 'deny' },
      result: null,
    });
  });

  test('a new version is in force at once, as YAML too, and a broken one changes nothing', async () => {
    const yaml = 'boundary: deny_by_default\nrules:\n  - { id: all, effect: allow, match: { tool: "*" } }\n';
    const put = await call('PUT', '/v1/policies/default', {
      body: yaml,
      headers: { 'content-type': 'application/yaml' },
    });
    expect(put).toMatchObject({ status: 200, json: { name: 'default', version: 2 } });
    expect((await post({ tool_id: 'shell.run', inputs: { cmd: ['true'] } })).status).toBe(202);
    const broken = await call('PUT', '/v1/policies/default', { body: '{"boundary":"allow_all"}' });
    expect(broken).toMatchObject({ status: 400, json: { code: 1002 } });
    expect((await system.admin.policies.get('default')).version).toBe(2);
  });
});

const naughty = new URL('../../../shared/corpora/naughty-strings/blns.json', import.meta.url);
test.skipIf(!existsSync(naughty))(
  'naughty strings as tool name and label: refused or kept byte for byte, never a fault',
  async () => {
    const strings: string[] = JSON.parse(readFileSync(naughty, 'utf8'));
    const { items } = await system.admin.submitBulk(
      strings.flatMap((text) => [{ tool_id: text, inputs: {} }, submission({ labels: { text }, delay_ms: 600_000 })]),
    );
    const labels = new Map<string, number>();
    for await (const one of system.admin.list({ status: 'deferred', limit: 1000 }))
      if (one.labels.text !== undefined) labels.set(one.labels.text, 1);
    items.forEach((item, index) => {
      if (index % 2 === 0) expect(item.status).toBe('invalid');
      else if (item.status === 'deferred') expect(labels.has(strings[(index - 1) / 2] ?? '')).toBe(true);
    });
  },
);

describe('operations', () => {
  test('healthz, readyz and metrics answer without a key', async () => {
    const open = { key: null };
    expect(await call('GET', '/healthz', open)).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await call('GET', '/readyz', open)).toMatchObject({
      status: 200,
      json: { ready: true, postgres: { ok: true } },
    });
    const metrics = await fetch(`${system.url}/metrics`).then((response) => response.text());
    expect(metrics).toContain('capstan_invocations{runner="exec",status="queued"}');
    expect(metrics).toContain('capstan_submissions_total{status="denied"}');
  });

  test('openapi.json describes every route with its schemas', async () => {
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

  test('workers and queues show who does what', async () => {
    const workers = await system.admin.workers.list().page();
    expect(workers.items[0]).toMatchObject({ status: 'alive', runners: expect.arrayContaining(['builtin', 'exec']) });
    const queues = await system.admin.queues.list().page();
    expect(queues.items.map((queue) => queue.runner)).toContain('browser');
  });
});
