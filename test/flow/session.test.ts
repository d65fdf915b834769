import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog, openBackbone } from '@capstan/backbone';
import { createClient } from '@capstan/client';
import { startGateway } from '@capstan/gateway';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
  await system.admin.policies.put('default', ALLOW_ALL);
});

const call = (
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) =>
  fetch(`${system.url}/v1/sessions/${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });

describe('the files of a session', () => {
  test('are written and read as bytes, whatever their type, and HTML is served as plain text', async () => {
    const bytes = new Uint8Array(Array.from({ length: 256 }, (_, at) => at));
    const put = await call('PUT', 's1/files/deep/down/a.bin', bytes, { 'content-type': 'application/octet-stream' });
    expect(put.status).toBe(201);
    expect(await put.json()).toMatchObject({ path: '/deep/down/a.bin', size_bytes: 256, is_directory: false });
    const got = await call('GET', 's1/files/deep/down/a.bin');
    expect(new Uint8Array(await got.arrayBuffer())).toEqual(bytes);
    expect(got.headers.get('content-type')).toBe('application/octet-stream');

    expect(
      (await call('PUT', 's1/files/page.html', '<script>1</script>', { 'content-type': 'text/html' })).status,
    ).toBe(201);
    const page = await call('GET', 's1/files/page.html');
    expect(await page.text()).toBe('<script>1</script>');
    expect(page.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain('sandbox');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('are written and read as JSON, listed and deleted', async () => {
    const file = JSON.stringify({ content: 'ä', is_readonly: true });
    const put = await call('PUT', 's2/files/a%20b/c%2Fd.txt', file, { 'content-type': 'application/json' });
    expect(await put.json()).toMatchObject({ path: '/a b/c/d.txt', is_readonly: true });
    const got = await call('GET', 's2/files/a%20b/c/d.txt', undefined, { accept: 'application/json' });
    expect(await got.json()).toMatchObject({ content: 'ä', encoding: 'text', size_bytes: 2 });
    expect(await (await call('GET', 's2/files')).json()).toMatchObject({
      items: [{ path: '/a b' }],
      next_cursor: null,
    });
    expect(await (await call('GET', 's2/files/a%20b')).json()).toMatchObject({ items: [{ path: '/a b/c' }] });
    expect((await call('DELETE', 's2/files/a%20b')).status).toBe(409);
    expect((await call('DELETE', 's2/files/a%20b?recursive=true')).status).toBe(204);
    expect((await call('DELETE', 's2/files/a%20b?recursive=true')).status).toBe(404);
  });

  test.each([
    ['GET', 'nobody', 404],
    ['GET', 'nobody/last-response', 404],
    ['GET', 'nobody/files/x', 404],
    ['GET', '%00/files', 400],
    ['GET', 's/files/a%00b', 400],
    ['PUT', 's/files/%2e%2e%2fx', 400],
    ['PUT', 's/files/', 409],
    ['GET', 's/files?path=/nowhere', 404],
    ['GET', 's/files?limit=0', 400],
  ])('answer %s %s with %d', async (method, path, status) => {
    expect((await call(method, path, method === 'PUT' ? 'x' : undefined)).status).toBe(status);
  });

  test('are the only bodies that need not be JSON', async () => {
    const response = await fetch(`${system.url}/v1/agents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'text/plain' },
      body: 'name',
    });
    expect(response.status).toBe(415);
  });
});

test('the last response of a session is the result of its latest call', async () => {
  const add = (a: number) =>
    system.admin.submit({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 }, session_id: 'last' }, { wait_s: 30 });
  await add(1);
  await add(2);
  expect(await system.admin.sessions.lastResponse('last')).toMatchObject({ success: true, payload: { result: 3 } });
  expect(await system.admin.sessions.get('last')).toMatchObject({ invocations: 2, files: 0 });
});

describe('workspace files', () => {
  test('are written and read through the queue, and the facts name the files', async () => {
    const run = (tool_id: string, inputs: { [key: string]: string }) =>
      system.admin.submit({ tool_id, inputs }, { wait_s: 30 });
    const written = await run('fs.write', { path: './notes/a.txt', content: 'kept' });
    expect(written).toMatchObject({
      status: 'succeeded',
      result: { facts: { observed: { files_written: ['notes/a.txt'] } } },
    });
    expect(await run('fs.read', { path: 'notes/a.txt' })).toMatchObject({ result: { payload: { content: 'kept' } } });
  });
});

describe('capabilities', () => {
  test('include the nine built-in ones, and each can be read', async () => {
    const response = await fetch(`${system.url}/v1/capabilities`, {
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
    });
    expect(await response.json()).toMatchObject({ total: 9, next_cursor: null });
    expect(await system.admin.capabilities.get('web_fetch')).toMatchObject({
      status: 'available',
      icon: 'globe',
      category: 'Network',
    });
    await expect(system.admin.capabilities.get('nope')).rejects.toMatchObject({ status: 404 });
  });

  const gatewayWith = async (text: string) => {
    const capabilities_file = join(await tempDir(), 'capabilities.yaml');
    await writeFile(capabilities_file, text);
    const backbone = await openBackbone({
      database_url: system.database.url,
      name: 'other',
      connections: 2,
      log: createLog('other', 'silent'),
    });
    atEnd(() => backbone.close());
    const gateway = await startGateway(backbone, {
      host: '127.0.0.1',
      port: 0,
      body_limit: 1_048_576,
      bulk_limit: 1_048_576,
      capabilities_file,
    });
    atEnd(() => gateway.stop());
    return createClient({ url: gateway.url, key: ADMIN_KEY });
  };

  test('from a file are added to the built-in ones, and an agent can use them', async () => {
    const client = await gatewayWith(
      'capabilities: [{ id: sums, name: Sums, system_prompt_addition: Add up., depends_on: [test_math] }]',
    );
    const { agent_id } = await client.agents.create({ name: 'x', capabilities: ['sums'] });
    const runtime = await client.agents.runtime(agent_id, 'gemini');
    expect(runtime.capabilities.map(({ id }) => id)).toEqual(['test_math', 'sums']);
    expect(runtime.system_prompt).toMatch(/Add up\.$/);
  });

  test('from an invalid file stop the start with the wrong field', async () => {
    await expect(gatewayWith('capabilities: [{ id: x, name: x, promt: y }]')).rejects.toThrow('capabilities.0.promt');
  });
});

describe('the last response of a session', () => {
  test('can be cleared repeatedly, while the calls stay on record, and the next result becomes the new one', async () => {
    const { sessions } = system.admin;
    const add = (a: number, session_id = 's-clear') =>
      system.admin.submit({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 }, session_id }, { wait_s: 30 });
    const gone = { status: 404, code: 3004 };
    await sessions.clearLastResponse('s-clear');
    const first = await add(1);
    await add(2);
    const other = await add(3, 's-other');
    expect(await sessions.lastResponse('s-clear')).toMatchObject({ payload: { result: 3 } });
    for (let times = 0; times < 2; times += 1) {
      await sessions.clearLastResponse('s-clear');
      await expect(sessions.lastResponse('s-clear')).rejects.toMatchObject(gone);
    }
    expect(await sessions.lastResponse('s-other')).toMatchObject({ invocation_id: other.invocation_id });
    expect(await system.admin.get(first.invocation_id)).toMatchObject({ result: { payload: { result: 2 } } });
    const { invocation_id } = await add(4);
    expect(await sessions.lastResponse('s-clear')).toMatchObject({ invocation_id });
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'eve', roles: ['submit'] });
    await system.clientFor(key).sessions.clearLastResponse('s-clear');
    expect(await sessions.lastResponse('s-clear')).toMatchObject({ invocation_id });
  });
});
