import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { createEgress } from '../create-egress.js';
import { startServer } from '../testing/start-server.js';
import { type EgressProxyOptions, startEgressProxy } from './start-egress-proxy.js';

const OPEN = { deny_private_ips: false };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function proxyWith(options: Omit<EgressProxyOptions, 'egress'>) {
  const egress = createEgress({ resolve: async () => ['127.0.0.1'] });
  const proxy = await startEgressProxy({ egress, ...options });
  cleanups.push(egress.close, proxy.close);
  return proxy;
}
const portOf = (url: string | null) => Number(new URL(url ?? '').port);

async function get(through: { port: number } | { socketPath: string }, url: string) {
  const asked = request({ ...through, host: '127.0.0.1', path: url, agent: false }).end();
  const [response] = await once(asked, 'response');
  return { status: response.statusCode, body: await text(response) };
}
async function tunnelTo(port: number, authority: string) {
  const socket = connect(port, '127.0.0.1');
  cleanups.push(() => socket.destroy());
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  return { socket, line: String(answer).split('\r\n')[0] };
}
async function serve(...args: Parameters<typeof startServer>) {
  const server = await startServer(...args);
  cleanups.push(server.close);
  return server;
}

test('plain requests and tunnels reach allowed hosts, which are reported', async () => {
  const server = await serve((_, response) => response.end('hello'));
  const domains: string[] = [];
  const proxy = await proxyWith({ rules: OPEN, onDomain: (domain) => domains.push(domain) });
  expect(await get({ port: portOf(proxy.url) }, `http://a.test:${server.port}/`)).toEqual({
    status: 200,
    body: 'hello',
  });
  const { socket, line } = await tunnelTo(portOf(proxy.url), `b.test:${server.port}`);
  expect(line).toBe('HTTP/1.1 200 Connection established');
  socket.write('GET / HTTP/1.0\r\n\r\n');
  expect(await text(socket)).toMatch(/hello$/);
  expect(domains).toEqual(['a.test', 'b.test']);
});

test('a host that the rules refuse is answered with 403 and never dialled', async () => {
  const server = await serve((_, response) => response.end());
  const refused: string[] = [];
  const proxy = await proxyWith({ rules: { deny_domains: ['no.test'] }, onRefused: ({ host }) => refused.push(host) });
  const port = portOf(proxy.url);
  expect(await get({ port }, `http://127.0.0.1:${server.port}/`)).toMatchObject({ status: 403 });
  expect(await get({ port }, `http://inside.test:${server.port}/`)).toMatchObject({ status: 403 });
  expect((await tunnelTo(port, `[::1]:${server.port}`)).line).toBe('HTTP/1.1 403 Forbidden');
  expect((await tunnelTo(port, 'no.test:443')).line).toBe('HTTP/1.1 403 Forbidden');
  expect(await get({ port }, '/relative')).toMatchObject({ status: 403 });
  expect(server.requests).toEqual([]);
  expect(refused).toEqual(['127.0.0.1', 'inside.test', '[::1]', 'no.test', '/relative']);
});

test('the proxy listens on a Unix socket, for a sandbox without a network', async () => {
  const server = await serve((_, response) => response.end('hello'));
  const folder = await mkdtemp(join(tmpdir(), 'capstan-proxy-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  const socketPath = join(folder, 'proxy.sock');
  const proxy = await proxyWith({ rules: OPEN, path: socketPath });
  expect(proxy.url).toBeNull();
  expect(await get({ socketPath }, `http://a.test:${server.port}/`)).toEqual({ status: 200, body: 'hello' });
});

test('every connection is closed when more bytes than allowed are received', async () => {
  const flood = createServer((socket) => socket.on('error', () => {}).write(Buffer.alloc(1_000_000)));
  flood.listen(0, '127.0.0.1');
  await once(flood, 'listening');
  cleanups.push(() => flood.close());
  const proxy = await proxyWith({ rules: OPEN, max_bytes: 100_000 });
  const { port } = flood.address() as AddressInfo;
  const { socket } = await tunnelTo(portOf(proxy.url), `a.test:${port}`);
  socket.on('error', () => {}).resume();
  await once(socket, 'close');
});

test('closing the proxy closes its tunnels', async () => {
  const server = await serve(() => {});
  const proxy = await proxyWith({ rules: OPEN });
  const { socket } = await tunnelTo(portOf(proxy.url), `a.test:${server.port}`);
  socket.on('error', () => {}).resume();
  cleanups.pop();
  const closed = once(socket, 'close');
  await proxy.close();
  await closed;
});
