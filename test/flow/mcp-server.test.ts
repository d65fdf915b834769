import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { McpServer } from '@capstan/contracts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { freePort } from '../fixtures/free-port.js';
import { hardestQueue } from '../fixtures/queues.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { startTaskServer, type TaskServer } from '../fixtures/start-task-server.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { FIXTURE, inRepository, MCP_POLICY } from './mcp-policy.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

const EVERYTHING = inRepository('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

/** An mcp.json as other clients write it. */
const FILE = {
  mcpServers: { 'from-file': { command: 'node', args: [FIXTURE], type: 'stdio', autoApprove: ['echo'] } },
};

const startHttp = async (port: number): Promise<LineProcess> => {
  const server = await startLineProcess({
    command: [process.execPath, EVERYTHING, 'streamableHttp'],
    env: { PORT: String(port), PATH: process.env.PATH ?? '' },
    cwd: inRepository('.'),
  });
  atEnd(() => server.killGroup('SIGKILL'));
  await server.waitForLine(/listening on port/i);
  return server;
};

describe.each(hardestQueue)('an MCP server on the $name queue', (queue) => {
  let system: System;
  let added: McpServer;
  beforeAll(async () => {
    const mcp_file = join(await tempDir(), 'mcp.json');
    await writeFile(mcp_file, JSON.stringify(FILE));
    system = await startSystem(queue, { mcp_file });
    await system.admin.policies.put('default', MCP_POLICY);
    [added] = await Promise.all([
      system.admin.mcpServers.add({ name: 'everything', command: 'node', args: [EVERYTHING, 'stdio'] }),
      system.admin.mcpServers.add({ name: 'fixture', command: 'node', args: [FIXTURE] }),
    ]);
  });
  const call = (tool_id: string, inputs = {}) => system.admin.submit({ tool_id, inputs }, { wait_s: 30 });

  test('over stdio is ready with its tools as soon as it is added', async () => {
    expect(added).toMatchObject({ status: 'ready', transport: 'stdio', tier: 'local', trust: 'org', last_error: null });
    expect(added.tools).toBeGreaterThan(5);
    const tool = await system.admin.tools.get('mcp:everything:get-sum');
    expect(tool).toMatchObject({
      source: 'mcp',
      origin: 'everything',
      runner: 'mcp',
      risk: 'LOW',
      effects: { idempotent: true, destructive: false, network: false },
    });
    expect(tool.input_schema).toMatchObject({ properties: { a: { type: 'number' } } });
  });

  test('is called through the queue, with its inputs checked first', async () => {
    expect(await call('mcp:everything:get-sum', { a: 2, b: 3 })).toMatchObject({
      status: 'succeeded',
      runner: 'mcp',
      result: { payload: { content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }] } },
    });
    await expect(call('mcp:everything:get-sum', { a: 'two' })).rejects.toMatchObject({ status: 422, code: 2002 });
  });

  test('keeps structured content', async () => {
    const done = await call('mcp:everything:get-structured-content', { location: 'Chicago' });
    expect(done.result?.payload).toMatchObject({ structuredContent: { temperature: expect.anything() } });
  });

  test('streams its progress, and stops when it is canceled', async () => {
    const { invocation_id } = await system.admin.submit({
      tool_id: 'mcp:everything:trigger-long-running-operation',
      inputs: { duration: 60, steps: 600 },
    });
    const lines: string[] = [];
    for await (const event of system.admin.events(invocation_id)) {
      if (event.event !== 'log') continue;
      lines.push(event.data.text);
      await system.admin.cancel(invocation_id);
    }
    expect(lines[0]).toBe('[progress 1/600]\n');
    expect((await system.admin.get(invocation_id)).status).toBe('canceled');
  });

  test('that crashes fails the call with a clear error, and is started again for the next call', async () => {
    const failed = await system.admin.submit(
      { tool_id: 'mcp:fixture:crash', inputs: {}, max_attempts: 1 },
      { wait_s: 30 },
    );
    expect(failed).toMatchObject({ status: 'failed', result: { code: 2030 } });
    expect(failed.result?.error).toContain('the MCP server fixture ended during the call: it ended with exit code 3');
    expect(await call('mcp:fixture:echo', { value: 'back' })).toMatchObject({
      status: 'succeeded',
      result: { payload: { content: [{ text: 'back' }] } },
    });
  });

  test('over HTTP works the same, also after it was killed and restarted', async () => {
    const port = await freePort();
    const server = await startHttp(port);
    const remote = await system.admin.mcpServers.add({ name: 'remote', url: `http://127.0.0.1:${port}/mcp` });
    expect(remote).toMatchObject({ status: 'ready', transport: 'http', tier: 'remote', trust: 'community' });
    expect(await call('mcp:remote:echo', { message: 'hi' })).toMatchObject({
      status: 'succeeded',
      result: { payload: { content: [{ text: 'Echo: hi' }] }, facts: { observed: { domains: ['127.0.0.1'] } } },
    });
    server.killGroup('SIGKILL');
    await server.exited;
    const once = { tool_id: 'mcp:remote:echo', inputs: { message: 'hi' }, max_attempts: 1 };
    const failed = await system.admin.submit(once, { wait_s: 30 });
    expect(failed).toMatchObject({ status: 'failed' });
    expect(failed.result?.error).toContain('the MCP server remote');
    await startHttp(port);
    await eventually(async () => expect((await system.admin.submit(once, { wait_s: 30 })).status).toBe('succeeded'));
  });

  test('that cannot start is listed as failing with the reason, and the others keep working', async () => {
    const broken = await system.admin.mcpServers.add({ name: 'broken', command: 'no-such-program' });
    expect(broken).toMatchObject({ status: 'failing', tools: 0 });
    expect(broken.last_error).toContain('no-such-program was not found');
    expect((await call('mcp:everything:echo', { message: 'hi' })).status).toBe('succeeded');
    await system.admin.mcpServers.delete('broken');
    await expect(system.admin.mcpServers.get('broken')).rejects.toMatchObject({ status: 404 });
  });

  test('is listed with its plain environment values hidden', async () => {
    const env = { API_TOKEN: 'not-for-anybodys-eyes', OTHER: 'secret://other' };
    const shown = await system.admin.mcpServers.add({
      name: 'quiet',
      command: 'node',
      args: [FIXTURE],
      env,
      enabled: false,
    });
    expect(shown).toMatchObject({ status: 'disabled', env: { API_TOKEN: '[hidden]', OTHER: 'secret://other' } });
    await system.admin.mcpServers.delete('quiet');
  });

  test('that announces a new tool has it available soon after', async () => {
    await call('mcp:fixture:grow');
    await eventually(async () => expect(await system.admin.tools.get('mcp:fixture:grown')).toBeDefined());
    expect((await call('mcp:fixture:grown')).status).toBe('succeeded');
    expect(await system.admin.mcpServers.refresh('fixture')).toMatchObject({ stale: false, status: 'ready' });
  });

  test('that is disabled has no tools, and has them again once it is enabled', async () => {
    expect(await system.admin.mcpServers.change('fixture', { enabled: false })).toMatchObject({ status: 'disabled' });
    await expect(call('mcp:fixture:echo')).rejects.toMatchObject({ status: 404, code: 2001 });
    expect(await system.admin.mcpServers.change('fixture', { enabled: true })).toMatchObject({ status: 'ready' });
    expect((await call('mcp:fixture:echo')).status).toBe('succeeded');
  });

  test('can come from an mcp.json that is named at the start or sent to the API, all of it or none', async () => {
    await eventually(async () =>
      expect(await system.admin.mcpServers.get('from-file')).toMatchObject({ status: 'ready' }),
    );
    const before = await system.admin.mcpServers.get('from-file');
    const { items } = await system.admin.mcpServers.addFile(FILE);
    expect(items).toEqual([before]);
    const bad = { mcpServers: { fine: { command: 'node' }, wrong: { command: 'node', url: 'http://localhost' } } };
    await expect(system.admin.mcpServers.addFile(bad)).rejects.toMatchObject({ status: 400 });
    await expect(system.admin.mcpServers.get('fine')).rejects.toMatchObject({ status: 404 });
  });

  test('that answers with images has them stored as artifacts of the result', async () => {
    const { result } = await call('mcp:fixture:image');
    expect(result?.artifacts).toMatchObject([
      { name: 'image-2.png', media_type: 'image/png' },
      { name: 'resource-3.zip' },
    ]);
    const sha256 = result?.artifacts[0]?.sha256;
    expect(result?.payload).toMatchObject({ content: [{}, { type: 'image', artifact: { sha256 } }, {}] });
  });

  test('cannot be discovered with a key whose policy does not allow mcp.discover', async () => {
    await expect(call('mcp.discover', { server: 'everything' })).rejects.toMatchObject({ status: 403, code: 1001 });
    const listed = await system.admin.list({ tool_id: 'mcp.discover' }).page();
    expect(listed.items[0]).toMatchObject({ actor: 'admin', status: 'denied' });
    expect(listed.items.at(-1)).toMatchObject({ actor: 'capstan', status: 'succeeded' });
  });

  test('can be added only by admins of the installation', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'ann', roles: ['admin'] });
    const acme = system.clientFor(key);
    await expect(acme.mcpServers.add({ name: 'x', command: 'sh' })).rejects.toMatchObject({ status: 403, code: 6003 });
  });

  describe('of the newest protocol', () => {
    let upstream: TaskServer;
    beforeAll(async () => {
      upstream = await startTaskServer();
      const headers = { Authorization: 'Bearer of-the-tests' };
      await system.admin.mcpServers.add({ name: 'tasks', url: upstream.url, headers });
    });
    const hold = async (name: string) => {
      const { invocation_id } = await system.admin.submit({ tool_id: 'mcp:tasks:ask', inputs: { name } });
      const told: string[] = [];
      const held = await system.admin.wait(invocation_id, {
        ...{ timeout_s: 15, until: (now) => now === 'held', on_status: (status) => told.push(status) },
      });
      expect(told).toContain('held');
      return { invocation_id, hold_id: held.hold_id ?? '' };
    };

    test('that is down for a moment has its task followed afterwards, and is not called again', async () => {
      const { invocation_id } = await system.admin.submit({ tool_id: 'mcp:tasks:wait', inputs: { name: 'down' } });
      await eventually(() => expect(upstream.asked_about).toContain('down'));
      upstream.state.down = true;
      await eventually(() => expect(upstream.state.refused).toBeGreaterThan(1));
      upstream.state.down = false;
      upstream.finish('down', 'up again');
      const { result } = await system.admin.wait(invocation_id, { timeout_s: 15 });
      expect(result?.payload).toMatchObject({ content: [{ text: 'up again' }] });
      expect(upstream.calls.filter((name) => name === 'down')).toHaveLength(1);
    });

    test('whose task asks a question gets the answer of a person, and the call ends with its result', async () => {
      const { invocation_id, hold_id } = await hold('answered');
      const answer = { action: 'accept', content: { city: 'Bergen' } };
      await system.admin.holds.release(hold_id, { answers: { city: answer } });
      const { result } = await system.admin.wait(invocation_id, { timeout_s: 15 });
      expect(result?.payload).toMatchObject({ content: [{ text: JSON.stringify(answer) }] });
    });

    test('whose task is answered elsewhere has the hold here withdrawn, and the call ends with its result', async () => {
      const { invocation_id, hold_id } = await hold('elsewhere');
      upstream.finish('elsewhere', 'decided there');
      const { status, result } = await system.admin.wait(invocation_id, { timeout_s: 15 });
      expect({ status, content: result?.payload }).toMatchObject({
        ...{ status: 'succeeded', content: { content: [{ text: 'decided there' }] } },
      });
      expect(await system.admin.holds.get(hold_id)).toMatchObject({
        ...{ status: 'withdrawn', decided_by: 'system' },
        votes: [{ kind: 'withdraw', comment: 'the task went on at its server without an answer from here' }],
      });
      expect(upstream.calls.filter((name) => name === 'elsewhere')).toHaveLength(1);
    });

    test('has its task canceled when the held call is canceled', async () => {
      const { invocation_id } = await hold('unwanted');
      await system.admin.cancel(invocation_id);
      await eventually(() => expect(upstream.canceled).toContain('unwanted'));
    });

    test('reports changes of a resource to a client that listens, and no longer keeps what it was', async () => {
      const client = new Client({ name: 'listener', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
      const told: string[] = [];
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => void told.push(params.uri));
      const headers = { authorization: `Bearer ${ADMIN_KEY}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', system.url), { requestInit: { headers } }),
      );
      atEnd(() => client.close());
      const uri = 'test://shared';
      const before = await client.readResource({ uri });
      expect(await client.readResource({ uri })).toMatchObject({ contents: before.contents });
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [uri] });
      expect(honoredFilter).toEqual({ resourceSubscriptions: [uri] });
      await eventually(() => {
        upstream.touch(uri);
        expect(told).toContain(uri);
      });
      await eventually(async () => expect((await client.readResource({ uri })).contents).not.toEqual(before.contents));
    });

    test('has its resources cached for as long as they say, and private ones for each person', async () => {
      const { key } = await system.admin.keys.create({ tenant: 'default', actor: 'rita', roles: ['submit'] });
      const read = async (client: System['admin'], name: string) => {
        const inputs = { uri: `test://${name}` };
        const { result } = await client.submit({ tool_id: 'mcp:tasks:resources/read', inputs }, { wait_s: 30 });
        return result?.payload;
      };
      const [ann, rita] = [system.admin, system.clientFor(key)];
      for (const client of [ann, ann, rita])
        expect(await read(client, 'public')).toMatchObject({ contents: [{ text: 'read 1' }] });
      for (const client of [ann, ann])
        expect(await read(client, 'private')).toMatchObject({ contents: [{ text: 'read 1' }] });
      expect(await read(rita, 'private')).toMatchObject({ contents: [{ text: 'read 2' }] });
      expect(await read(ann, 'fresh')).toMatchObject({ contents: [{ text: 'read 1' }] });
      expect(await read(ann, 'fresh')).toMatchObject({ contents: [{ text: 'read 2' }] });
    });
  });
});
