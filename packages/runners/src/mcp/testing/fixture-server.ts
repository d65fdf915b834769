import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, get, type IncomingMessage } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** A server with a tool for everything that can succeed or fail, as a program that tests start with node. */
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let canceled = 0;
const READ_ONLY = { readOnlyHint: true, openWorldHint: false };

function createFixture(): McpServer {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' }, { capabilities: { logging: {} } });
  const tool = (name: string, run: (value: string) => ReturnType<typeof text> | Promise<ReturnType<typeof text>>) =>
    server.registerTool(name, { inputSchema: { value: z.string().default('') }, annotations: READ_ONLY }, ({ value }) =>
      run(value),
    );
  tool('echo', text);
  server.registerTool('traceparent', { annotations: READ_ONLY }, ({ _meta }) => text(String(_meta?.traceparent)));
  tool('pid', () => text(String(process.pid)));
  tool('env', (name) => text(process.env[name] ?? '(not set)'));
  tool('environment', () => text(JSON.stringify(process.env)));
  tool('canceled', () => text(String(canceled)));
  // Uses the proxy like other programs; Node's own fetch does not before version 24.
  tool('proxied', async (url) => {
    const proxy = process.env.HTTP_PROXY;
    if (proxy === undefined) return text('there is no proxy');
    const [response] = await once(get(proxy, { path: url }), 'response');
    return text(`${response.statusCode} ${await readText(response)}`);
  });
  tool('home', async (name) => {
    const file = join(homedir(), name);
    const before = await readFile(file, 'utf8').catch(() => 'nothing');
    await writeFile(file, 'something');
    return text(before);
  });
  tool('status', async () => text(await readFile('/proc/self/status', 'utf8')));
  tool('daemon', (seconds) => {
    spawn('setsid', ['-f', 'sleep', seconds], { detached: true, stdio: 'ignore', env: {} }).unref();
    return text('it goes on');
  });
  tool('fail', () => ({ ...text('it went wrong'), isError: true }));
  tool('crash', () => {
    process.stderr.write('about to crash\n');
    process.exit(3);
  });
  tool('hang', () => {
    process.stderr.write('hanging\n');
    for (;;) Math.random();
  });
  const plain = tool('plain', () => text('as ever'));
  tool('redescribe', (description) => {
    plain.update({ description });
    return text('it says something else now');
  });
  // Asks something, and does not wait for the answer.
  tool('impatient', (message) => {
    const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } };
    server.server.elicitInput({ message, requestedSchema }).catch(() => {});
    return text('it goes on');
  });
  // Wants a page opened first, and is content the second time.
  let asked = false;
  tool('page', (elicitationId) => {
    if (asked) return text('opened');
    asked = true;
    const url = 'https://pages.example/open';
    throw new UrlElicitationRequiredError([{ mode: 'url', elicitationId, url, message: 'Open this' }]);
  });
  tool('remove_all', () => text('removed'));
  tool('grow', () => {
    server.registerTool('grown', { annotations: READ_ONLY }, () => text('grown'));
    return text('there is one more');
  });
  server.registerTool('image', { annotations: READ_ONLY }, () => ({
    content: [
      { type: 'text', text: 'a pixel' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///blob', mimeType: 'application/zip', blob: 'AAAA' } },
    ],
  }));
  // The value of a variable, as a text file.
  server.registerTool('leak', { inputSchema: { value: z.string() }, annotations: READ_ONLY }, ({ value }) => {
    const blob = Buffer.from(`it is ${process.env[value]}\n`).toString('base64');
    return { content: [{ type: 'resource', resource: { uri: 'file:///leak', mimeType: 'text/plain', blob } }] };
  });
  server.registerTool('link', { inputSchema: { length: z.number() }, annotations: READ_ONLY }, ({ length }) => ({
    content: [
      { type: 'resource_link', uri: 'file:///far', name: 'n'.repeat(length) },
      { type: 'text', text: 'after it' },
    ],
  }));
  server.registerTool(
    'sum',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() }, annotations: READ_ONLY },
    ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
  );
  // Runs until it is canceled, and reports that.
  server.registerTool(
    'wait',
    { annotations: { destructiveHint: true } },
    async ({ signal, sendNotification, _meta }) => {
      await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'waiting' } });
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined)
        await sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, total: 2, message: 'half-way' },
        });
      if (!signal.aborted) await once(signal, 'abort');
      canceled += 1;
      process.stderr.write('canceled by the client\n');
      return text('canceled');
    },
  );
  return server;
}

async function serveHttp(port: number): Promise<void> {
  // Most tests start it over stdio, and this is a fifth of its start.
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await createFixture().connect(transport as Transport);
    return transport;
  };
  const server = createServer((request, response) => {
    const serve = async () => {
      const id = sessionOf(request);
      if (process.env.FIXTURE_TOKEN && request.headers.authorization !== `Bearer ${process.env.FIXTURE_TOKEN}`) {
        response.writeHead(401).end();
        return;
      }
      const known = id === undefined ? await open() : sessions.get(id);
      if (known) await known.handleRequest(request, response);
      else response.writeHead(404).end();
    };
    void serve();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  console.log(`listening on ${typeof address === 'object' ? address?.port : address}`);
}

const sessionOf = ({ headers }: IncomingMessage): string | undefined => {
  const id = headers['mcp-session-id'];
  return Array.isArray(id) ? id[0] : id;
};

if (process.argv[2] === 'http') await serveHttp(Number(process.argv[3] ?? 0));
else await createFixture().connect(new StdioServerTransport());
