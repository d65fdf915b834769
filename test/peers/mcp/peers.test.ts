import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@capstan/client';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../fixtures/at-end.js';
import { createTestDatabase } from '../../fixtures/create-test-database.js';
import { eventually } from '../../fixtures/eventually.js';
import { freePort } from '../../fixtures/free-port.js';
import { spawnCapstan } from '../../fixtures/spawn-capstan.js';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from '../../flow/start-system.js';
import { inPackage, NODE } from './start-fixture.js';

const official = (name: string, ...args: string[]) => ({
  command: 'node',
  args: [inPackage(`@modelcontextprotocol/server-${name}`, 'dist/index.js'), ...args],
});
const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };
const OLD = { name: 'old', version: '1.0.0' };
const NEW = { name: 'new', version: '1.0.0' };

async function connectOld(url: string): Promise<Client> {
  const client = new Client(OLD);
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers: HEADERS } }));
  atEnd(() => client.close());
  return client;
}

async function connectNew(url: string): Promise<ModernClient> {
  const client = new ModernClient(NEW, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new ModernTransport(new URL('/mcp', url), { requestInit: { headers: HEADERS } }));
  atEnd(() => client.close());
  return client;
}

describe('Official MCP servers', () => {
  let system: System;
  let folder: string;
  const call = (tool_id: string, inputs = {}) => system.admin.submit({ tool_id, inputs }, { wait_s: 30 });

  beforeAll(async () => {
    system = await startSystem({ name: 'postgres' });
    await system.admin.policies.put('default', ALLOW_ALL);
    folder = join(await tempDir(), 'files');
    await mkdir(folder);
    // If the worker is root, the program runs as the user of its tenant.
    await chmod(folder, 0o777);
    await Promise.all([
      system.admin.mcpServers.add({ name: 'files', ...official('filesystem', folder), permissions: ['paths'] }),
      system.admin.mcpServers.add({
        name: 'memory',
        ...official('memory'),
        permissions: ['home'],
        env: { MEMORY_FILE_PATH: '/home/server/memory.json' },
      }),
      system.admin.mcpServers.add({ name: 'thinking', ...official('sequential-thinking') }),
      system.admin.mcpServers.add({ name: 'everything', ...official('everything', 'stdio') }),
    ]);
  });

  test('filesystem writes to the folder that it was given, and reads the file back', async () => {
    const path = join(folder, 'note.txt');
    expect(await call('mcp:files:write_file', { path, content: 'kept' })).toMatchObject({ status: 'succeeded' });
    expect(await readFile(path, 'utf8')).toBe('kept');
    expect((await call('mcp:files:read_text_file', { path })).result?.payload).toMatchObject({
      content: [{ type: 'text', text: 'kept' }],
    });
  });

  test('memory remembers what it was told', async () => {
    const entities = [{ name: 'Capstan', entityType: 'project', observations: ['turns'] }];
    expect((await call('mcp:memory:create_entities', { entities })).status).toBe('succeeded');
    expect(JSON.stringify((await call('mcp:memory:read_graph')).result?.payload)).toContain('turns');
  });

  test('sequential-thinking accepts a thought', async () => {
    const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    expect((await call('mcp:thinking:sequentialthinking', thought)).status).toBe('succeeded');
  });

  test('everything passes its prompts and resources through to clients of both SDKs', async () => {
    const [old, modern] = [await connectOld(system.url), await connectNew(system.url)];
    expect(modern.getProtocolEra()).toBe('modern');
    for (const client of [old, modern]) {
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain('simple-prompt');
      expect(await client.getPrompt({ name: 'simple-prompt' })).toMatchObject({ messages: [{ role: 'user' }] });
      const { resources } = await client.listResources();
      const [first] = resources;
      expect(await client.readResource({ uri: first?.uri ?? '' })).toMatchObject({ contents: [{ uri: first?.uri }] });
      const echo = { name: 'mcp_everything_echo', arguments: { message: 'hi' } };
      expect(await client.callTool(echo)).toMatchObject({ content: [{ type: 'text', text: 'Echo: hi' }] });
    }
  });

  test('everything reports progress to clients of both SDKs, and stops when they cancel', async () => {
    const [old, modern] = [await connectOld(system.url), await connectNew(system.url)];
    const long = { name: 'mcp_everything_trigger-long-running-operation', arguments: { duration: 60, steps: 120 } };
    for (const client of [old, modern]) {
      const stop = new AbortController();
      const seen: number[] = [];
      const options = {
        signal: stop.signal,
        onprogress: ({ progress }: { progress: number }) => {
          seen.push(progress);
          stop.abort();
        },
      };
      const running =
        client instanceof Client
          ? client.callTool(long, CallToolResultSchema, options)
          : client.callTool(long, options);
      await expect(running).rejects.toThrow();
      expect(seen[0]).toBe(1);
      await eventually(async () => {
        const { items } = await system.admin.list({ tool_id: 'mcp:everything:trigger-long-running-operation' }).page();
        expect(items[0]?.status).toBe('canceled');
      });
    }
  });

  test('everything has a prompt that the policy holds, and clients of both SDKs are told where it is decided', async () => {
    const hold = { id: 'ask', effect: 'hold', match: { tool: 'mcp:everything:prompts/get' }, reason: 'prompts wait' };
    await system.admin.policies.put('default', { ...ALLOW_ALL, rules: [...ALLOW_ALL.rules, hold] });
    const clients = [await connectOld(system.url), await connectNew(system.url)];
    const where = /prompts wait.* Decide at http.*\/holds\/(hld_[\w-]+), or: capstan release \1/;
    await Promise.all(
      clients.map((client) => expect(client.getPrompt({ name: 'simple-prompt' })).rejects.toThrow(where)),
    );
    await system.admin.policies.put('default', ALLOW_ALL);
  });

  test('can be called by the command line of the MCP Inspector', async () => {
    const inspector = await startLineProcess({
      command: [
        ...[
          NODE,
          inPackage('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js'),
          '--cli',
          `${system.url}/mcp`,
        ],
        ...['--transport', 'http', '--header', `Authorization: Bearer ${ADMIN_KEY}`],
        ...['--method', 'tools/call', '--tool-name', 'mcp_everything_echo', '--tool-arg', 'message=hello'],
      ],
      env: { PATH: process.env.PATH ?? '', HOME: await tempDir() },
      cwd: await tempDir(),
    });
    await inspector.exited;
    expect([...inspector.stdout, ...inspector.stderr].join('\n')).toContain('Echo: hello');
  });
});

describe('A held call of an MCP client', () => {
  const POLICY = {
    ...ALLOW_ALL,
    rules: [
      ...ALLOW_ALL.rules,
      { id: 'ask', effect: 'hold', match: { tool: 'cap:test_math:multiply' }, reason: 'products need a person' },
    ],
  };
  const multiply = { name: 'cap_test_math_multiply', arguments: { a: 6, b: 7 } };

  /** All services in one process, as with `npm start`, which can be restarted on the same database and port. */
  const start = async (DATABASE_URL: string, port: number) => {
    const env = { DATABASE_URL, CAPSTAN_PORT: String(port), CAPSTAN_API_KEY: ADMIN_KEY, PATH: process.env.PATH ?? '' };
    const capstan = await spawnCapstan(['up'], env);
    const [, url = ''] = await capstan.waitForLine(/is up at (\S+)/);
    return { capstan, url };
  };

  test('as a task is decided by the CLI after a restart of the gateway, and a client of the old SDK gets the result', async () => {
    const { url: database } = await createTestDatabase();
    const port = await freePort();
    const first = await start(database, port);
    const admin = createClient({ url: first.url, key: ADMIN_KEY });
    await admin.policies.put('default', POLICY);
    const client = await connectOld(first.url);
    const stream = client.experimental.tasks.callToolStream(multiply, CallToolResultSchema, { task: {} });
    const created = await stream.next();
    const taskId = created.value?.type === 'taskCreated' ? created.value.task.taskId : '';
    await stream.return(undefined);

    const early = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    const told = expect(early).rejects.toThrow('The task has not ended yet (held: products need a person)');
    // An answer shows that the request before it has arrived.
    await client.experimental.tasks.getTask(taskId);
    first.capstan.kill('SIGTERM');
    await first.capstan.exited;
    await told;
    const second = await start(database, port);
    const result = client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    const cli = await spawnCapstan(['release', taskId.replace('inv_', 'hld_')], {
      ...{ CAPSTAN_URL: second.url, CAPSTAN_API_KEY: await otherKey(second.url), PATH: process.env.PATH ?? '' },
    });
    expect(await cli.exited).toMatchObject({ code: 0 });
    expect(await result).toMatchObject({ structuredContent: { result: 42 } });
  });

  test('in the newest protocol is decided by the CLI while the client waits, and the client gets the result', async () => {
    const { url: database } = await createTestDatabase();
    const { url } = await start(database, await freePort());
    const admin = createClient({ url, key: ADMIN_KEY });
    await admin.policies.put('default', POLICY);
    const client = await connectNew(url);
    const result = client.callTool(multiply);
    const hold_id = await eventually(async () => {
      const { items } = await admin.holds.list().page();
      return items[0]?.hold_id ?? false;
    });
    const env = { CAPSTAN_URL: url, CAPSTAN_API_KEY: await otherKey(url), PATH: process.env.PATH ?? '' };
    const cli = await spawnCapstan(['release', String(hold_id)], env);
    expect(await cli.exited).toMatchObject({ code: 0 });
    expect(await result).toMatchObject({ structuredContent: { result: 42 } });
  });

  /** Another person, because whoever made a call may not release it. */
  async function otherKey(url: string): Promise<string> {
    const admin = createClient({ url, key: ADMIN_KEY });
    return (await admin.keys.create({ tenant: 'default', actor: 'olga', roles: ['operate'] })).key;
  }
});
