import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ALL_EFFECTS, type JsonObject, type NewMcpServer, NO_EFFECTS } from '@capstan/contracts';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Call, KeptFile, Runner, RunOutcome } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createMcpRunner } from './create-mcp-runner.js';

// The built one, because servers are processes of their own.
const FIXTURE = fileURLToPath(new URL('../../dist/mcp/testing/fixture-server.js', import.meta.url));

const servers = new Map<string, NewMcpServer>();
const stale: string[] = [];
let changed = () => {};
let runner: Runner;
let work_dir: string;
const cleanUp: (() => unknown)[] = [];

beforeAll(async () => {
  work_dir = await mkdtemp(join(tmpdir(), 'capstan-mcp-'));
  servers.set('fixture', { name: 'fixture', command: 'node', args: [FIXTURE] });
  runner = createMcpRunner({
    work_dir,
    env: { PATH: process.env.PATH, CANARY: 'a-secret-of-the-worker' },
    ports: {
      server: async (name) => {
        const config = servers.get(name);
        return config ? { config, allow_private: true } : null;
      },
      stale: (name) => stale.push(name),
      onChange: (listener) => {
        changed = listener;
      },
    },
  });
});
afterAll(async () => {
  await runner.close?.();
  for (const act of cleanUp.reverse()) await act();
  await rm(work_dir, { recursive: true, force: true });
});

const callOf = (server: string, tool: string, inputs: JsonObject = {}, over: Partial<Call> = {}): Call =>
  testCall(
    testDescriptor({
      tool_id: `mcp:${server}:${tool}`,
      runner: 'mcp',
      source: 'mcp',
      binding: { kind: 'mcp', server, tool },
      effects: NO_EFFECTS,
    }),
    { inputs, ...over },
  );
const run = async (server: string, tool: string, inputs: JsonObject = {}, over: Partial<Call> = {}) =>
  runner.run(callOf(server, tool, inputs, over));
const textOf = (outcome: RunOutcome) =>
  outcome.success
    ? (outcome.payload as { content: { text: string }[] }).content.map((block) => block.text).join('')
    : outcome.error;

async function startHttp(
  env: Record<string, string> = {},
  port = 0,
): Promise<{ url: string; port: number; kill(): Promise<unknown> }> {
  const child = execa('node', [FIXTURE, 'http', String(port)], {
    env,
    stdout: 'pipe',
    stderr: 'inherit',
    reject: false,
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await child;
  };
  cleanUp.push(kill);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const listening = Number(/listening on (\d+)/.exec(String(line))?.[1]);
  return { url: `http://127.0.0.1:${listening}/mcp`, port: listening, kill };
}

async function addHttp(name: string): Promise<Awaited<ReturnType<typeof startHttp>>> {
  const server = await startHttp();
  servers.set(name, { name, url: server.url });
  return server;
}

describe.each(['stdio', 'http'])('a server over %s', (transport) => {
  const name = transport === 'stdio' ? 'fixture' : 'remote';
  beforeAll(async () => {
    if (transport === 'http') await addHttp(name);
  });

  test('answers in content blocks', async () => {
    expect(await run(name, 'echo', { value: 'hello' })).toMatchObject({
      success: true,
      payload: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  test('keeps structured content beside the blocks', async () => {
    const outcome = await run(name, 'sum', { a: 2, b: 3 });
    expect(outcome).toMatchObject({ success: true, payload: { structuredContent: { sum: 5 } } });
  });

  test('is one process for all calls, also at once', async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => run(name, 'pid')));
    expect(new Set(outcomes.map(textOf)).size).toBe(1);
  });

  test('fails a call whose tool says so, with its words', async () => {
    expect(await run(name, 'fail')).toMatchObject({ success: false, kind: 'TOOL_ERROR', error: 'it went wrong' });
  });

  test('is told of wrong arguments by the tool, in words', async () => {
    const outcome = await run(name, 'sum', { a: 'x' });
    expect(outcome).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
  });

  test('leaves images and blobs as artifacts', async () => {
    const kept: KeptFile[] = [];
    const outcome = await run(
      name,
      'image',
      {},
      {
        keep: async (file) => {
          kept.push(file);
          return {
            sha256: 'a'.repeat(64),
            name: file.name,
            media_type: file.media_type,
            size: (file.content as Uint8Array).length,
          };
        },
      },
    );
    expect(kept).toMatchObject([{ name: 'image-2.png', media_type: 'image/png' }, { name: 'resource-3.zip' }]);
    expect(outcome.artifacts).toHaveLength(2);
    expect(outcome.payload).toMatchObject({
      content: [
        { text: 'a pixel' },
        { type: 'image', artifact: { name: 'image-2.png' } },
        { resource: { artifact: { size: 3 } } },
      ],
    });
    expect(JSON.stringify(outcome.payload)).not.toContain('iVBOR');
  });

  test('passes progress, logs and a cancel on', async () => {
    const stop = new AbortController();
    const lines: string[] = [];
    let halfWay = () => {};
    const begun = new Promise<void>((resolve) => {
      halfWay = resolve;
    });
    const log: Call['log'] = (_, line) => {
      lines.push(line);
      if (lines.some((one) => one.includes('half-way')) && lines.some((one) => one.includes('waiting'))) halfWay();
    };
    const outcome = run(name, 'wait', {}, { signal: stop.signal, log });
    await begun;
    stop.abort('cancel');
    expect(await outcome).toMatchObject({ success: false });
    expect(lines.join('')).toContain('[progress 1/2] half-way\n');
    expect(lines.join('')).toContain('[info] waiting\n');
    const heard = await vi.waitFor(() => run(name, 'canceled'));
    expect(textOf(heard)).toBe('1');
  });

  test('that ends during a call gives a clear error, and the next call works', async () => {
    stale.length = 0;
    const outcome = await run(name, 'crash');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    if (transport === 'stdio') {
      expect(outcome.success || outcome.error).toMatch(
        /it ended with exit code 3; it had said: (.*\n)*about to crash$/,
      );
      expect(textOf(await run(name, 'echo', { value: 'back' }))).toBe('back');
    }
    expect(stale).toContain(name);
  });
});

describe('a program', () => {
  test('runs in a sandbox, and the result names it', async () => {
    expect((await run('fixture', 'echo')).facts?.sandbox).toMatch(/bubblewrap|namespaces|process/);
  });

  test('sees its own variables and none of the worker', async () => {
    servers.set('with-env', { name: 'with-env', command: 'node', args: [FIXTURE], env: { GREETING: 'hello there' } });
    expect(textOf(await run('with-env', 'env', { value: 'GREETING' }))).toBe('hello there');
    const all = textOf(await run('with-env', 'environment'));
    expect(all).not.toContain('a-secret-of-the-worker');
  });

  test('gets secrets by reference, and what it says of them is redacted', async () => {
    servers.set('secretive', {
      name: 'secretive',
      command: 'node',
      args: [FIXTURE],
      env: { API_TOKEN: 'secret://token', INLINE_TOKEN: 'inline-value-of-a-token' },
    });
    const secret = async () => 'tok-0123456789abcdef';
    expect(textOf(await run('secretive', 'env', { value: 'API_TOKEN' }, { secret }))).not.toContain(
      'tok-0123456789abcdef',
    );
    expect(textOf(await run('secretive', 'env', { value: 'INLINE_TOKEN' }, { secret }))).not.toContain('inline-value');
    await expect(run('secretive', 'echo')).rejects.toThrow('no secret token');
  });

  test('has no network, and with the permission the guard between itself and the rest', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    expect(textOf(await run('fixture', 'proxied', { value: url }))).toBe('there is no proxy');
    servers.set('online', { name: 'online', command: 'node', args: [FIXTURE], permissions: ['network'] });
    // Private addresses stay closed to it.
    expect(textOf(await run('online', 'proxied', { value: url }))).toMatch(/^403 .*127\.0\.0\.1/);
  });

  test('finds its home again only with the permission', async () => {
    servers.set('homely', { name: 'homely', command: 'node', args: [FIXTURE], permissions: ['home'] });
    for (const [server, before] of [
      ['fixture', 'nothing'],
      ['homely', 'something'],
    ] as const) {
      const call = { tenant: `tenant-of-${server}` };
      expect(textOf(await run(server, 'home', { value: 'file' }, call))).toBe('nothing');
      await run(server, 'crash', {}, call);
      expect(textOf(await run(server, 'home', { value: 'file' }, call))).toBe(before);
    }
  });

  test('is not shared between tenants, and is between the calls of one', async () => {
    const file = { value: 'shared' };
    const read = async (tenant: string) => textOf(await run('fixture', 'home', file, { tenant }));
    expect(await read('ann')).toBe('nothing');
    expect(await read('bob')).toBe('nothing');
    expect(await read('ann')).toBe('something');
    // Nobody uses it at the moment: when the servers change, it goes.
    changed();
    expect(await read('ann')).toBe('nothing');
  });

  test('that hangs is ended after its call was stopped, and the next call gets another', async () => {
    const stop = new AbortController();
    servers.set('hanging', { name: 'hanging', command: 'node', args: [FIXTURE] });
    await run('hanging', 'echo');
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const hanging = run('hanging', 'hang', {}, { signal: stop.signal, log: () => begin() });
    await begun;
    stop.abort('timeout');
    await hanging;
    await vi.waitFor(
      async () =>
        expect(textOf(await run('hanging', 'echo', { value: 'new' }, { signal: AbortSignal.timeout(1500) }))).toBe(
          'new',
        ),
      { timeout: 10_000 },
    );
  });

  test('that is missing is named, with what to install', async () => {
    servers.set('absent', { name: 'absent', command: 'no-such-program' });
    expect(await run('absent', 'echo')).toMatchObject({ success: false, kind: 'EXECUTABLE_NOT_FOUND' });
  });

  test('that is no server is shown with what it said', async () => {
    servers.set('broken', { name: 'broken', command: 'sh', args: ['-c', 'echo cannot find the database >&2; exit 4'] });
    const outcome = await run('broken', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED', retryable: true });
    expect(outcome.success || outcome.error).toContain('cannot find the database');
  });
});

describe('an endpoint', () => {
  test('that was killed gives a clear error, and works when it is back', async () => {
    const { port, kill } = await addHttp('killed');
    const waiting = run('killed', 'wait');
    await vi.waitFor(async () => expect((await run('killed', 'echo')).success).toBe(true));
    await kill();
    expect(await waiting).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    expect(await run('killed', 'echo')).toMatchObject({ success: false });
    await startHttp({}, port);
    await vi.waitFor(async () => expect(textOf(await run('killed', 'echo', { value: 'back' }))).toBe('back'), {
      timeout: 10_000,
    });
  });

  test('that was restarted between calls is called again under a new session', async () => {
    const { port, kill } = await addHttp('restarted');
    await run('restarted', 'echo');
    await kill();
    await startHttp({}, port);
    expect(textOf(await run('restarted', 'echo', { value: 'again' }))).toBe('again');
  });

  test('that breaks a stream off before the answer fails that call', async () => {
    const abrupt = createServer((request, response) => {
      void text(request).then((body) => {
        const message = body === '' ? {} : JSON.parse(body);
        if (message.method === 'tools/call') {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(': thinking\n\n', () => response.destroy());
        } else if (message.method === 'initialize') {
          const result = {
            protocolVersion: message.params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'abrupt', version: '1' },
          };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
        } else response.writeHead(request.method === 'POST' ? 202 : 405).end();
      });
    });
    abrupt.listen(0, '127.0.0.1');
    await once(abrupt, 'listening');
    cleanUp.push(() => abrupt.close());
    const address = abrupt.address();
    const port = typeof address === 'object' ? address?.port : address;
    servers.set('abrupt', { name: 'abrupt', url: `http://127.0.0.1:${port}/mcp` });
    const outcome = await run('abrupt', 'echo');
    expect(outcome).toMatchObject({ success: false, kind: 'MCP_SERVER_FAILED' });
    expect(textOf(outcome)).toContain('broke off during the call');
  });

  test('gets its headers, with secrets by reference', async () => {
    const { url } = await startHttp({ FIXTURE_TOKEN: 'tok-0123456789abcdef' });
    servers.set('guarded', { name: 'guarded', url, headers: { Authorization: 'Bearer secret://token' } });
    const secret = async () => 'tok-0123456789abcdef';
    expect(textOf(await run('guarded', 'echo', { value: 'in' }, { secret }))).toBe('in');
    servers.set('guarded', { name: 'guarded', url });
    const refused = await run('guarded', 'echo');
    expect(refused).toMatchObject({ success: false, retryable: false });
    expect(refused.success || refused.error).toContain('refuses the credentials');
  });

  test('on a private address is refused unless the operator registered that host', async () => {
    const url = 'http://127.0.0.1:9/mcp';
    const strict = createMcpRunner({
      work_dir,
      ports: {
        server: async () => ({ config: { name: 'private', url }, allow_private: false }),
        stale: () => {},
        onChange: () => {},
      },
    });
    const outcome = await strict.run(callOf('private', 'echo'));
    expect(outcome).toMatchObject({ success: false, kind: 'EGRESS_DENIED' });
    await strict.close?.();
  });

  test('that the policy of the call does not name is not contacted', async () => {
    servers.set('elsewhere', { name: 'elsewhere', url: 'http://127.0.0.1:9/mcp' });
    const limits = { timeout_ms: 30_000, max_output_bytes: 1_000_000, network: ['example.com'] };
    expect(await run('elsewhere', 'echo', {}, { limits })).toMatchObject({ success: false, kind: 'EGRESS_DENIED' });
  });
});

describe('mcp.discover', () => {
  const discover = (server: string) =>
    runner.run(testCall(testDescriptor({ tool_id: 'mcp.discover', runner: 'mcp' }), { inputs: { server } }));

  test('lists the tools as the server describes them', async () => {
    const outcome = await discover('fixture');
    expect(outcome).toMatchObject({ success: true, payload: { server_info: { name: 'fixture' } } });
    const { tools } = outcome.payload as { tools: { name: string; annotations: unknown }[] };
    expect(tools.find(({ name }) => name === 'echo')).toMatchObject({ annotations: { readOnlyHint: true } });
  });

  test('of a server that nobody registered says so', async () => {
    const outcome = await discover('nobody');
    expect(outcome).toMatchObject({ success: false, error: 'there is no MCP server nobody, or it is disabled' });
  });
});

test('a server that says its tools changed is reported stale', async () => {
  stale.length = 0;
  await run('fixture', 'grow', {}, { tenant: 'grower' });
  await vi.waitFor(() => expect(stale).toContain('fixture'));
});

test('a call that may have taken effect is not tried again by itself', async () => {
  const call = callOf('fixture', 'crash');
  const outcome = await runner.run({ ...call, descriptor: { ...call.descriptor, effects: ALL_EFFECTS } });
  expect(outcome).toMatchObject({ success: false, retryable: false });
});

test('output over the limit is cut after it was redacted', async () => {
  const limits = { timeout_ms: 30_000, max_output_bytes: 10 };
  const outcome = await run('fixture', 'echo', { value: '0123456789abcdef' }, { limits });
  expect(outcome).toMatchObject({ success: true, truncated: true });
  expect(textOf(outcome)).toBe('0123456789');
});
