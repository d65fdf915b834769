import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { eventually } from '../fixtures/eventually.js';
import { hardestQueue } from '../fixtures/queues.js';
import { FIXTURE, MCP_POLICY } from './mcp-policy.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

describe.each(hardestQueue)("Capstan's own MCP endpoint on the $name queue", (queue) => {
  let system: System;
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
    system = await startSystem(queue);
    await system.admin.policies.put('default', MCP_POLICY);
    await system.admin.mcpServers.add({ name: 'fixture', command: 'node', args: [FIXTURE] });
    client = await connect(ADMIN_KEY);
  });

  test('lists the tools that the key may use, under names that every client accepts', async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('cap_test_math_add');
    expect(names).toContain('shell_run');
    expect(names).toContain('cap_test_math_multiply');
    expect(names).not.toContain('cap_test_math_divide');
    expect(names).not.toContain('mcp_discover');
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,63}$/);
  });

  test('refuses requests from another origin, with a valid key or without', async () => {
    const headers = { 'content-type': 'application/json', origin: 'http://evil.example' };
    for (const key of [{ authorization: `Bearer ${ADMIN_KEY}` }, {}]) {
      const response = await fetch(`${system.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, ...key },
        body: '{}',
      });
      expect(await response.json()).toMatchObject({ status: 403, code: 6004 });
    }
  });

  test('can be called by a web page of this machine, which may send a key and read the answer', async () => {
    const origin = 'http://localhost:6274';
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const preflight = await fetch(`${system.url}/mcp`, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin]);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const answer = await fetch(`${system.url}/mcp`, { method: 'POST', headers: { origin } });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, origin]);
    expect(answer.headers.get('access-control-expose-headers')).toContain('www-authenticate');
    const foreign = { ...asked, origin: 'http://evil.example' };
    const refused = await fetch(`${system.url}/mcp`, { method: 'OPTIONS', headers: foreign });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null]);
  });

  test('calls a tool through the queue', async () => {
    const result = await call('cap_test_math_add', { a: 2, b: 3 });
    expect(result).toMatchObject({ structuredContent: { result: 5 } });
    const invocation = await system.admin.get(String(result._meta?.['capstan/invocation_id']));
    expect(invocation).toMatchObject({ tool_id: 'cap:test_math:add', status: 'succeeded', actor: 'admin' });
  });

  test('answers wrong inputs, denials and failures with texts that a model can act on', async () => {
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

  test('answers a held call with its id and does not run it', async () => {
    const held = await call('cap_test_math_multiply', { a: 2, b: 3 });
    // The text does not match the output schema of the tool, so clients would refuse it if it were not an error.
    expect(held.isError).toBe(true);
    expect(textOf(held)).toContain('products need a person');
    const id = String(held._meta?.['capstan/invocation_id']);
    expect(textOf(held)).toContain(id);
    expect((await system.admin.get(id)).status).toBe('held');
  });

  test('returns a held call as a task whose status says why it is held', async () => {
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

  test('gives the reason of the rejection in the result of a rejected task', async () => {
    const { tasks } = client.experimental;
    const multiply = { name: 'cap_test_math_multiply', arguments: { a: 2, b: 3 } };
    const stream = tasks.callToolStream(multiply, CallToolResultSchema, { task: {} });
    const created = await stream.next();
    const taskId = created.value?.type === 'taskCreated' ? created.value.task.taskId : '';
    await stream.return(undefined);
    await system.admin.holds.reject(taskId.replace('inv_', 'hld_'), 'Multiply by hand, please.');
    const result = await tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('Multiply by hand, please.');
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

  test('reports the output of a tool as progress', async () => {
    const messages: (string | undefined)[] = [];
    // The client forgets who listens as soon as it has the result, also for progress that arrives with it.
    await call(
      'shell_run',
      { cmd: ['sh', '-c', 'echo one; echo two >&2; sleep 0.5'] },
      { onprogress: ({ message }: { message?: string }) => messages.push(message) },
    );
    expect(messages.join(' ')).toContain('one');
  });

  test('cancels the call when the client cancels its request', async () => {
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

  test('cancels the call when the client disconnects', async () => {
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

  test('passes on the answer of a tool of another MCP server', async () => {
    expect(await call('mcp_fixture_sum', { a: 1, b: 2 })).toMatchObject({
      content: [{ type: 'text', text: '3' }],
      structuredContent: { sum: 3 },
    });
  });

  test('requires a key, and lists the tools that the policy of its tenant allows', async () => {
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
});
