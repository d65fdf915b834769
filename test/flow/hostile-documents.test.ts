import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { atEnd } from '../fixtures/at-end.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

const DEEP = `${'['.repeat(5000)}${']'.repeat(5000)}`;
const ADD = { tool: 'cap:test_math:add', args: { a: 1, b: 2 } };
/** YAML that is short to write and slow to parse: half a minute without a time limit. */
const SLOW = `steps: [${','.repeat(900_000)}]`;
/** Long enough to be parsed in a thread. */
const LONG_PLAN = `steps:\n${Array.from({ length: 100 }, () => '  - { tool: "cap:test_math:add", args: { a: 1, b: 2 } }\n').join('')}`;

const Problem = z.looseObject({ detail: z.string().optional() });

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' }, { gateway: { read_ms: 2000, body_ms: 300 } });
});
const send = async (
  method: string,
  path: string,
  body: string,
  { key = ADMIN_KEY, type = 'application/json' } = {},
) => {
  const response = await fetch(`${system.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': type, accept: 'application/json, text/event-stream' },
    body,
  });
  const problem = Problem.parse(await response.json());
  return { status: response.status, problem };
};

describe('JSON that is nested thousands of levels deep', () => {
  test.each([
    ['POST', '/v1/invocations'],
    ['POST', '/v1/invocations/bulk'],
    ['POST', '/v1/runs'],
    ['POST', '/v1/schedules'],
    ['PUT', '/v1/policies/default'],
    ['POST', '/v1/policy/explain'],
    ['POST', '/v1/extensions'],
    ['POST', '/v1/tool-calls'],
    ['POST', '/v1/mcp-servers'],
    ['POST', '/v1/agents'],
    ['POST', '/mcp'],
  ])('is refused with its line and column by %s %s', async (method, path) => {
    const { status, problem } = await send(method, path, `{"inputs":\n{"a":${DEEP}}}`);
    expect(status).toBe(400);
    expect(problem).toMatchObject({ code: 3001, errors: [{ line: 2, column: 132 }] });
  });

  test.each([
    ['a plan', '/v1/runs', { plan: `{"steps":${DEEP}}` }],
    ['a plan as YAML', '/v1/runs', { plan: `steps: ${DEEP}` }],
    ['a policy', '/v1/policy/explain', { tool_id: ADD.tool, policy: `{"rules":${DEEP}}` }],
    ['the manifest of an extension', '/v1/extensions', { manifest: DEEP, commands: 'slash_commands: []' }],
    ['the commands of an extension', '/v1/extensions', { manifest: { id: 'x' }, commands: `a: ${DEEP}` }],
    ['the answer of a model', '/v1/tool-calls', { provider: 'openai', response: `{"choices":${DEEP}}` }],
  ])('is refused in the text of %s', async (_, path, body) => {
    const { status, problem } = await send('POST', path, JSON.stringify(body));
    expect(status, JSON.stringify(problem)).toBe(400);
  });

  test('is refused in a bundle', async () => {
    const { status, problem } = await send('POST', '/v1/bundles', DEEP, { type: 'application/x-ndjson' });
    expect({ status, detail: problem.detail }).toMatchObject({
      status: 400,
      detail: expect.stringContaining('deeper'),
    });
  });
});

describe('YAML that is made to be slow to parse', () => {
  test('is refused with the line at which it has too many anchors', async () => {
    const anchors = Array.from({ length: 20_000 }, (_, at) => `- &a${at} x\n- *a${at}\n`).join('');
    const { status, problem } = await send('POST', '/v1/runs', `steps:\n${anchors}`, { type: 'application/yaml' });
    expect(status).toBe(400);
    expect(problem).toMatchObject({
      code: 3010,
      errors: [{ line: 1002, message: expect.stringContaining('anchors') }],
    });
  });

  test('is stopped at the time limit, and documents of other tenants are read meanwhile', async () => {
    const { key: other } = await system.admin.keys.create({
      tenant: 'other',
      actor: 'ann',
      roles: ['submit', 'admin'],
    });
    const order: string[] = [];
    const note = async (name: string, sent: ReturnType<typeof send>) => {
      const { status, problem } = await sent;
      order.push(name);
      return { status, problem };
    };
    const slow = [1, 2, 3].map((at) => note(`slow ${at}`, send('POST', '/v1/runs', JSON.stringify({ plan: SLOW }))));
    const plan = JSON.stringify({ plan: LONG_PLAN });
    const others = [1, 2].map((at) => note(`other ${at}`, send('POST', '/v1/runs?dry_run=true', plan, { key: other })));
    for (const { status } of await Promise.all(others)) expect(status).toBe(200);
    for (const { status, problem } of await Promise.all(slow)) {
      expect(status).toBe(400);
      expect(problem).toMatchObject({ code: 3010, detail: expect.stringContaining('takes longer than 2000 ms') });
    }
    expect(order.at(-1)).toMatch(/^slow/);
  });
});

test('a request body that trickles in is answered with 408', async () => {
  const { hostname, port } = new URL(system.url);
  const socket = connect(Number(port), hostname);
  atEnd(() => socket.destroy());
  socket.write(
    `POST /v1/invocations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_KEY}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
  );
  const drops = setInterval(() => socket.write(' '), 20);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  await once(socket, 'close');
  clearInterval(drops);
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":3012/);
});

describe('/metrics', () => {
  test('has a bounded number of series, whatever requests came in', async () => {
    const document: unknown = await (await fetch(`${system.url}/openapi.json`)).json();
    const { paths } = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) }).parse(document);
    const asked = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).flatMap((method) => [ADMIN_KEY, 'wrong'].map((key) => ({ path, method, key }))),
    );
    for (const { path, method, key } of asked)
      if (!path.endsWith('/events') && path !== '/metrics')
        await fetch(`${system.url}${path.replaceAll(/\{\w+\}/g, 'none')}`, {
          method: method.toUpperCase(),
          headers: { authorization: `Bearer ${key}` },
        }).then((response) => response.body?.cancel());
    const text = await (await fetch(`${system.url}/metrics`)).text();
    expect(text).toContain('capstan_http_requests_total{area="invocations",status="401"}');
    expect(text.length).toBeLessThan(64_000);
  });

  test.each([
    ['on another port', { host: '127.0.0.1', port: 0 }],
    ['nowhere', null],
  ])('is served %s if so configured, and no longer on the port of the API', async (_, metrics_at) => {
    const moved = await startSystem({ name: 'postgres' }, { gateway: { metrics_at } });
    expect((await fetch(`${moved.url}/metrics`)).status).toBe(404);
    expect(moved.metrics_url === null).toBe(metrics_at === null);
    if (moved.metrics_url !== null)
      expect(await (await fetch(moved.metrics_url)).text()).toContain('capstan_submissions_total');
  });
});
