import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { McpServer } from '@capstan/contracts';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { freePort } from '../fixtures/free-port.js';
import { queues } from '../fixtures/queues.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

const inRepository = (path: string) => fileURLToPath(new URL(path, findRepository()));
const EVERYTHING = inRepository('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FIXTURE = inRepository('packages/runners/dist/mcp/testing/fixture-server.js');

/** Everything that the tests call is allowed, but for what they want to see held or denied. */
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: ['mcp:*', 'cap:*', 'shell.run'] } },
    { id: 'ask', effect: 'hold', match: { tool: 'cap:test_math:multiply' }, reason: 'products need a person' },
    { id: 'never', effect: 'forbid', match: { tool: 'cap:test_math:divide' }, reason: 'nobody divides here' },
  ],
  limits: [{ shell: true }],
  risk: { HIGH: { effect: 'allow' } },
};

/** As other clients keep it. */
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

let system: System;
let added: McpServer;

describe.each(queues)('on the $name queue', (queue) => {
  beforeAll(async () => {
    const mcp_file = join(await tempDir(), 'mcp.json');
    await writeFile(mcp_file, JSON.stringify(FILE));
    system = await startSystem(queue, { mcp_file });
    await system.admin.policies.put('default', POLICY);
    [added] = await Promise.all([
      system.admin.mcpServers.add({ name: 'everything', command: 'node', args: [EVERYTHING, 'stdio'] }),
      system.admin.mcpServers.add({ name: 'fixture', command: 'node', args: [FIXTURE] }),
    ]);
  });

  describe('an MCP server', aSourceOfTools);
  describe("Capstan's own MCP endpoint", anEndpoint);
});

function aSourceOfTools() {
  const call = (tool_id: string, inputs = {}) => system.admin.submit({ tool_id, inputs }, { wait_s: 30 });

  test('over stdio is ready at once, with its tools', async () => {
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

  test('that is killed gives a clear tool error, and is back at the next call', async () => {
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

  test('over HTTP works the same, also after it was killed and started again', async () => {
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

  test('that cannot start is failing with the reason, and hurts no other', async () => {
    const broken = await system.admin.mcpServers.add({ name: 'broken', command: 'no-such-program' });
    expect(broken).toMatchObject({ status: 'failing', tools: 0 });
    expect(broken.last_error).toContain('no-such-program was not found');
    expect((await call('mcp:everything:echo', { message: 'hi' })).status).toBe('succeeded');
    await system.admin.mcpServers.delete('broken');
    await expect(system.admin.mcpServers.get('broken')).rejects.toMatchObject({ status: 404 });
  });

  test('never shows what it was given to keep', async () => {
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

  test('that grows a tool says so, and a moment later it can be called', async () => {
    await call('mcp:fixture:grow');
    await eventually(async () => expect(await system.admin.tools.get('mcp:fixture:grown')).toBeDefined());
    expect((await call('mcp:fixture:grown')).status).toBe('succeeded');
    expect(await system.admin.mcpServers.refresh('fixture')).toMatchObject({ stale: false, status: 'ready' });
  });

  test('that is disabled takes its tools along, and brings them back', async () => {
    expect(await system.admin.mcpServers.change('fixture', { enabled: false })).toMatchObject({ status: 'disabled' });
    await expect(call('mcp:fixture:echo')).rejects.toMatchObject({ status: 404, code: 2001 });
    expect(await system.admin.mcpServers.change('fixture', { enabled: true })).toMatchObject({ status: 'ready' });
    expect((await call('mcp:fixture:echo')).status).toBe('succeeded');
  });

  test('is taken from an mcp.json: the one named at the start, or one that is sent', async () => {
    await eventually(
      async () => expect(await system.admin.mcpServers.get('from-file')).toMatchObject({ status: 'ready' }),
      { timeout_ms: 20_000 },
    );
    const before = await system.admin.mcpServers.get('from-file');
    const { items } = await system.admin.mcpServers.addFile(FILE);
    expect(items).toEqual([before]);
    const bad = { mcpServers: { fine: { command: 'node' }, wrong: { command: 'node', url: 'http://localhost' } } };
    await expect(system.admin.mcpServers.addFile(bad)).rejects.toMatchObject({ status: 400 });
    await expect(system.admin.mcpServers.get('fine')).rejects.toMatchObject({ status: 404 });
  });

  test('leaves its images as artifacts of the result', async () => {
    const { result } = await call('mcp:fixture:image');
    expect(result?.artifacts).toMatchObject([
      { name: 'image-2.png', media_type: 'image/png' },
      { name: 'resource-3.zip' },
    ]);
    const sha256 = result?.artifacts[0]?.sha256;
    expect(result?.payload).toMatchObject({ content: [{}, { type: 'image', artifact: { sha256 } }, {}] });
  });

  test('can be discovered by no key whose policy does not say so', async () => {
    await expect(call('mcp.discover', { server: 'everything' })).rejects.toMatchObject({ status: 403, code: 1001 });
    const listed = await system.admin.list({ tool_id: 'mcp.discover' }).page();
    expect(listed.items[0]).toMatchObject({ actor: 'admin', status: 'denied' });
    expect(listed.items.at(-1)).toMatchObject({ actor: 'capstan', status: 'succeeded' });
  });

  test('is the business of admins of the installation alone', async () => {
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'ann', roles: ['admin'] });
    const acme = system.clientFor(key);
    await expect(acme.mcpServers.add({ name: 'x', command: 'sh' })).rejects.toMatchObject({ status: 403, code: 6003 });
  });
}

function anEndpoint() {
  let client: Client;

  const connect = async (key: string): Promise<Client> => {
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', system.url), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    });
    const connected = new Client({ name: 'test', version: '1.0.0' });
    await connected.connect(transport);
    atEnd(() => connected.close());
    return connected;
  };
  const call = async (name: string, args: Record<string, unknown> = {}, options = {}): Promise<CallToolResult> =>
    CallToolResultSchema.parse(await client.callTool({ name, arguments: args }, undefined, options));
  const textOf = ({ content }: CallToolResult) =>
    content.map((block) => (block.type === 'text' ? block.text : '')).join('');

  beforeAll(async () => {
    client = await connect(ADMIN_KEY);
  });

  test('lists what the key may use, under names that every client takes', async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('cap_test_math_add');
    expect(names).toContain('shell_run');
    expect(names).toContain('cap_test_math_multiply');
    expect(names).not.toContain('cap_test_math_divide');
    expect(names).not.toContain('mcp_discover');
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,63}$/);
  });

  test('calls a tool through the queue', async () => {
    const result = await call('cap_test_math_add', { a: 2, b: 3 });
    expect(result).toMatchObject({ structuredContent: { result: 5 } });
    const invocation = await system.admin.get(String(result._meta?.['capstan/invocation_id']));
    expect(invocation).toMatchObject({ tool_id: 'cap:test_math:add', status: 'succeeded', actor: 'admin' });
  });

  test('answers wrong inputs, denials and failures so that a model can read them', async () => {
    const wrong = await call('cap_test_math_add', { a: 'two', b: 3 });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain('inputs.a');
    const denied = await call('cap_test_math_divide', { a: 1, b: 2 });
    expect(denied.isError).toBe(true);
    expect(textOf(denied)).toContain('nobody divides here');
    const failed = await call('shell_run', { cmd: ['false'] });
    expect(failed.isError).toBe(true);
    await expect(call('no_such_tool')).rejects.toThrow('There is no tool');
  });

  test('answers a held call with its id, and it has not run', async () => {
    const held = await call('cap_test_math_multiply', { a: 2, b: 3 });
    expect(held.isError).toBeFalsy();
    expect(textOf(held)).toContain('products need a person');
    const id = String(held._meta?.['capstan/invocation_id']);
    expect(textOf(held)).toContain(id);
    expect((await system.admin.get(id)).status).toBe('held');
  });

  test('gives a held call as a task, which tells how it is', async () => {
    const stream = client.experimental.tasks.callToolStream(
      { name: 'cap_test_math_multiply', arguments: { a: 2, b: 3 } },
      CallToolResultSchema,
      { task: { ttl: 60_000 } },
    );
    const created = await stream.next();
    expect(created.value).toMatchObject({ type: 'taskCreated', task: { status: 'working' } });
    const taskId = created.value?.type === 'taskCreated' ? created.value.task.taskId : '';
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({
      statusMessage: 'held: products need a person',
    });
    expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
    await stream.return(undefined);
  });

  test('runs a call as a task to its result', async () => {
    const seen: string[] = [];
    for await (const message of client.experimental.tasks.callToolStream(
      { name: 'cap_test_math_add', arguments: { a: 4, b: 4 } },
      CallToolResultSchema,
      { task: {} },
    )) {
      seen.push(message.type);
      if (message.type === 'result') expect(message.result).toMatchObject({ structuredContent: { result: 8 } });
    }
    expect(seen[0]).toBe('taskCreated');
    expect(seen.at(-1)).toBe('result');
  });

  test('tells of progress by what a tool prints', async () => {
    const messages: (string | undefined)[] = [];
    await call(
      'shell_run',
      { cmd: ['sh', '-c', 'echo one; echo two >&2'] },
      { onprogress: ({ message }: { message?: string }) => messages.push(message) },
    );
    expect(messages.join(' ')).toContain('one');
  });

  test('cancels the call when the client does', async () => {
    const stop = new AbortController();
    const running = call(
      'shell_run',
      { cmd: ['sh', '-c', 'echo begun; exec sleep 60'] },
      { signal: stop.signal, onprogress: () => stop.abort() },
    );
    await expect(running).rejects.toThrow();
    await eventually(async () => {
      const { items } = await system.admin.list({ tool_id: 'shell.run' }).page();
      expect(items[0]?.status).toBe('canceled');
    });
  });

  test('cancels the call when the client is gone', async () => {
    const other = await connect(ADMIN_KEY);
    let begun = () => {};
    const seen = new Promise<void>((resolve) => {
      begun = resolve;
    });
    other
      .callTool({ name: 'shell_run', arguments: { cmd: ['sh', '-c', 'echo begun; exec sleep 60'] } }, undefined, {
        onprogress: () => begun(),
      })
      .catch(() => {});
    await seen;
    await other.close();
    await eventually(async () => {
      const { items } = await system.admin.list({ tool_id: 'shell.run' }).page();
      expect(items[0]?.status).toBe('canceled');
    });
  });

  test('passes on what a tool of another MCP server answers', async () => {
    expect(await call('mcp_fixture_sum', { a: 1, b: 2 })).toMatchObject({
      content: [{ type: 'text', text: '3' }],
      structuredContent: { sum: 3 },
    });
  });

  test('wants a key, and shows a tenant with another policy other tools', async () => {
    await expect(connect('cap_no-such-key-0123456789')).rejects.toThrow(/401|not known/);
    const { key } = await system.admin.keys.create({ tenant: 'acme', actor: 'ann', roles: ['submit'] });
    await system.admin.policies.put('acme', {
      version: '1.0',
      boundary: 'deny_by_default',
      rules: [{ id: 'one', effect: 'allow', match: { tool: 'cap:test_math:add' } }],
    });
    const { tools } = await (await connect(key)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['cap_test_math_add']);
  });
}
