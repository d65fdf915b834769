import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Client, createClient } from '@capstan/client';
import { INSTALLATION_POLICY, type JsonObject } from '@capstan/contracts';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { atEnd } from '../fixtures/at-end.js';
import { createTestDatabase } from '../fixtures/create-test-database.js';
import { OPEN_INSTALLATION } from '../fixtures/open-installation.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';
import { tempDir } from '../fixtures/temp-dir.js';

const KEY = 'a-key-of-the-tests';

type Seen = { method: string; url: string; headers: IncomingHttpHeaders; body: string };
const seen: Seen[] = [];
let admin: Client;
let url = '';
let shop = '';

/** A shop API that records its requests. */
const startShop = async (): Promise<string> => {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, url: path, headers, body: await text(request) });
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ done: path }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
};

/** OpenAPI 3.0, with what 3.1 spells differently: `nullable`, and an exclusive bound that is a boolean. */
const shopDocument = (): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Corner Shop', version: '2.1.0' },
  servers: [{ url: '{where}', variables: { where: { default: shop } } }],
  security: [{ token: [] }],
  paths: {
    '/orders/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getOrder',
        summary: 'One order',
        tags: ['orders'],
        parameters: [{ name: 'fields[]', in: 'query', schema: { type: 'array', items: { type: 'string' } } }],
      },
      delete: { operationId: 'deleteOrder', summary: 'Delete an order', tags: ['orders'] },
    },
    '/refunds': {
      post: {
        operationId: 'createRefund',
        summary: 'Refund money to a customer',
        tags: ['money'],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Refund' } } },
        },
      },
    },
    '/pictures': { post: { requestBody: { required: true, content: { 'multipart/form-data': {} } } } },
  },
  components: {
    securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } },
    schemas: {
      Refund: {
        type: 'object',
        required: ['order', 'amount'],
        properties: {
          order: { type: 'string' },
          amount: { type: 'number', minimum: 0, exclusiveMinimum: true },
          note: { type: 'string', nullable: true },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Refund' } },
        },
      },
    },
  },
});

const allow = () =>
  admin.policies.put('default', {
    rules: [{ id: 'shop', effect: 'allow', match: { tool: 'openapi:shop:*' } }],
    risk: { HIGH: { effect: 'allow' } },
    limits: [{ deny_private_ips: false }],
  });

beforeAll(async () => {
  shop = await startShop();
  const { url: DATABASE_URL } = await createTestDatabase();
  const capstan = await spawnCapstan(['up'], { DATABASE_URL, CAPSTAN_PORT: '0', CAPSTAN_API_KEY: KEY });
  [, url = ''] = await capstan.waitForLine(/is up at (\S+)/);
  admin = createClient({ url, key: KEY });
  atEnd(() => admin.close());
  await admin.policies.put(INSTALLATION_POLICY, OPEN_INSTALLATION);
  await admin.secrets.put('shop', 'the-key-of-the-shop');
  await allow();
});
beforeEach(() => void seen.splice(0));

const addShop = () => admin.openApis.add({ name: 'shop', document: shopDocument(), auth: { token: 'secret://shop' } });
const call = (operation: string, inputs: JsonObject) =>
  admin.submit(
    { tool_id: `openapi:shop:${operation}`, inputs },
    { wait_s: 30, until: (status) => status !== 'queued' && status !== 'running' },
  );

test('each operation becomes a tool whose effects follow from its method and its wording', async () => {
  const { tools, warnings, base_url } = await addShop();
  expect(base_url).toBe(shop);
  expect(tools.sort()).toEqual(['openapi:shop:createRefund', 'openapi:shop:deleteOrder', 'openapi:shop:getOrder']);
  expect(warnings).toEqual(['POST /pictures is left out: its body is multipart/form-data']);
  expect(await admin.tools.get('openapi:shop:getOrder')).toMatchObject({
    ...{ source: 'openapi', origin: 'shop', runner: 'api', risk: 'MED' },
    effects: { idempotent: true, destructive: false, network: true },
  });
  expect(await admin.tools.get('openapi:shop:deleteOrder')).toMatchObject({
    ...{ risk: 'HIGH', effects: { idempotent: true, destructive: true, reversible: false } },
  });
  expect(await admin.tools.get('openapi:shop:createRefund')).toMatchObject({
    ...{ risk: 'CRITICAL', side_effects: expect.arrayContaining(['payments']), effects: { idempotent: false } },
    input_schema: {
      required: ['body'],
      $defs: {
        Refund: {
          properties: { amount: { exclusiveMinimum: 0 }, note: { type: ['string', 'null'] } },
        },
      },
    },
  });
});

test('a call is one request, with the inputs in their places and the secret only in its header', async () => {
  await addShop();
  const { status, result } = await call('getOrder', { id: 'a/b?c', fields: ['total', 'date'] });
  expect({ status, result }).toMatchObject({ status: 'succeeded', result: { payload: { status_code: 200 } } });
  expect(seen).toMatchObject([
    {
      method: 'GET',
      url: '/api/orders/a%2Fb%3Fc?fields%5B%5D=total&fields%5B%5D=date',
      headers: { 'x-shop-key': 'the-key-of-the-shop' },
    },
  ]);
  expect(JSON.stringify(result)).not.toContain('the-key-of-the-shop');
});

test('inputs are checked against the schema of the operation before anything is sent', async () => {
  await addShop();
  await expect(call('createRefund', { body: { order: 'o1', amount: 0 } })).rejects.toMatchObject({ status: 422 });
  await expect(call('getOrder', { id: 'x', other: 1 })).rejects.toMatchObject({ status: 422 });
  expect(seen).toEqual([]);
});

test('an operation that moves money is held, and sends its body once it is released', async () => {
  await addShop();
  await admin.policies.put('default', {
    rules: [{ id: 'ask', effect: 'hold', match: { tool: '*:createRefund' }, approvals: { allow_self: true } }],
    risk: { CRITICAL: { effect: 'allow', require_spec_frozen: false } },
    limits: [{ deny_private_ips: false }],
  });
  const held = await call('createRefund', { body: { order: 'o1', amount: 5 } });
  expect(held.status).toBe('held');
  expect(seen).toEqual([]);
  await admin.holds.release(held.hold_id ?? '', { comment: 'checked' });
  const { status } = await admin.wait(held.invocation_id, { timeout_s: 60 });
  expect(status).toBe('succeeded');
  expect(seen).toMatchObject([{ method: 'POST', url: '/api/refunds', body: '{"order":"o1","amount":5}' }]);
  await allow();
});

test('a server on this machine is not reached unless policy allows private addresses', async () => {
  await addShop();
  await admin.policies.put('default', { rules: [{ id: 'shop', effect: 'allow', match: { tool: 'openapi:shop:*' } }] });
  await expect(call('getOrder', { id: '1' })).rejects.toMatchObject({ status: 403 });
  expect(seen).toEqual([]);
  await allow();
});

test('include and exclude choose operations by name, path or tag', async () => {
  const chosen = async (options: JsonObject) => {
    const { tools } = await admin.openApis.preview({ name: 'shop', document: shopDocument(), ...options });
    return tools.map(({ name }) => name);
  };
  expect(await chosen({ include: ['orders'] })).toEqual(['getOrder', 'deleteOrder']);
  expect(await chosen({ include: ['GET *'] })).toEqual(['getOrder']);
  expect(await chosen({ exclude: ['delete*', 'money'] })).toEqual(['getOrder']);
  await expect(chosen({ include: ['nothing'] })).rejects.toMatchObject({ status: 400 });
});

test('a document that is not OpenAPI 3 is refused with the fields that are wrong', async () => {
  const document = { swagger: '2.0', info: { title: 'Old', version: '1' }, paths: {} };
  await expect(admin.openApis.add({ document })).rejects.toMatchObject({
    status: 400,
    problem: { errors: [{ field: 'swagger', message: expect.stringContaining('Swagger 2.0') }] },
  });
});

test('the command adds a document from a file and from an address, previews it, lists it and removes it', async () => {
  const folder = await tempDir();
  await writeFile(join(folder, 'shop.yaml'), stringify(shopDocument()));
  const capstan = async (...args: string[]) => {
    const env = { CAPSTAN_URL: url, CAPSTAN_API_KEY: KEY };
    const { exited, stdout, stderr } = await spawnCapstan(['openapi', ...args], env, { cwd: folder });
    const { code } = await exited;
    return { code, out: stdout.join('\n'), err: stderr.join('\n') };
  };
  const preview = await capstan('add', 'shop.yaml', '--name', 'corner', '--dry-run');
  expect(preview).toMatchObject({
    code: 0,
    out: expect.stringContaining(`openapi:corner:getOrder  MED, idempotent  GET ${shop}`),
  });
  expect(preview.err).toContain(
    'getOrder: it is called without authentication: token (name a secret for it with auth)',
  );
  expect((await capstan('list')).out).not.toContain('corner');

  expect(await capstan('add', 'shop.yaml', '--name', 'corner', '--auth', 'secret://shop')).toMatchObject({
    ...{ code: 0, out: expect.stringContaining('corner 2.1.0: 3 tools added') },
  });
  expect((await capstan('list')).out).toMatch(/corner +2\.1\.0 +3/);
  // As in many documents, the server is on the same host.
  const document = { ...shopDocument(), servers: [{ url: '/api' }] };
  const files = createServer((_, response) => void response.end(JSON.stringify(document)));
  files.listen(0, '127.0.0.1');
  await once(files, 'listening');
  atEnd(() => void files.close());
  const host = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  expect(await capstan('add', `${host}/v1/openapi.json`, '--name', 'corner', '--include', 'getOrder')).toMatchObject({
    code: 0,
  });
  expect((await capstan('list')).out).toMatch(new RegExp(`corner +2\\.1\\.0 +1 +${host}/api`));
  expect(await capstan('remove', 'corner')).toMatchObject({ code: 0 });
  await expect(admin.tools.get('openapi:corner:getOrder')).rejects.toMatchObject({ status: 404 });
});
