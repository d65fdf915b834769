import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { fetch as undiciFetch } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { createEgress, type Egress } from './create-egress.js';
import { startDns } from './testing/start-dns.js';
import { startServer } from './testing/start-server.js';
import { watchSockets } from './testing/watch-sockets.js';

const CORPORA = new URL('../../../../shared/corpora/ssrf/', import.meta.url);
const PUBLIC = '93.184.215.14';
const OPEN = { deny_private_ips: false };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function egressFor(options: Parameters<typeof createEgress>[0] = {}): Egress {
  const egress = createEgress(options);
  cleanups.push(egress.close);
  return egress;
}
function watched(internet: Record<string, number> = {}) {
  const watch = watchSockets(internet);
  cleanups.push(watch.restore);
  return watch.dialled;
}
async function serve(...args: Parameters<typeof startServer>) {
  const server = await startServer(...args);
  cleanups.push(server.close);
  return server;
}
async function dnsThat(...args: Parameters<typeof startDns>) {
  const dns = await startDns(...args);
  cleanups.push(dns.close);
  return dns;
}
const text = async (egress: Egress, url: string, request: Parameters<Egress['fetch']>[1] = {}) =>
  (await (await egress.fetch(url, request)).read()).bytes.toString();

describe.skipIf(!existsSync(CORPORA))('THE CORPUS OF SSRF (skipped where ../shared/corpora is absent)', () => {
  const load = (name: string): string[] =>
    existsSync(CORPORA) ? JSON.parse(readFileSync(new URL(name, CORPORA), 'utf8')) : [];

  test('all URLs of the corpus are refused, and no socket is opened', async () => {
    const dns = await dnsThat(() => ['127.0.0.1']);
    const egress = egressFor({ resolve: dns.resolve });
    const dialled = watched();
    const urls = load('ssrf-req-filter.blocked.json');
    for (const url of urls) await expect(egress.fetch(url), url).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
    expect(urls).toHaveLength(52);
    expect(dialled).toEqual([]);
  });

  test('both ends of every range are refused as literals and as DNS answers, and no socket is opened', async () => {
    let answers: string[] = [];
    const egress = egressFor({ resolve: async () => answers });
    const dialled = watched();
    const ranges = load('ssrf_filter.cidrs.json');
    for (const range of ranges) {
      const cidr = range.includes('/') ? range : `${range}/32`;
      const family = range.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
      for (const end of [family.networkAddressFromCIDR(cidr), family.broadcastAddressFromCIDR(cidr)]) {
        const host = range.includes(':') ? `[${end}]` : String(end);
        await expect(egress.fetch(`http://${host}/`), host).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
        answers = [PUBLIC, String(end)];
        await expect(egress.fetch('http://named.test/'), host).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
      }
    }
    expect(ranges).toHaveLength(26);
    expect(dialled).toEqual([]);
  });
});

test('a name that is rebound after the check is dialled at the checked address', async () => {
  const server = await serve((_, response) => response.end('public'));
  const dns = await dnsThat((_, nth) => (nth === 0 ? [PUBLIC] : ['127.0.0.1']));
  const dialled = watched({ [PUBLIC]: server.port });
  const egress = egressFor({ resolve: dns.resolve });
  expect(await text(egress, 'http://rebind.test/')).toBe('public');
  expect(dns.queries).toEqual(['rebind.test']);
  expect(dialled).toEqual([`${PUBLIC}:80`]);
  const fresh = egressFor({ resolve: dns.resolve });
  await expect(fresh.fetch('http://rebind.test/')).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
  expect(dialled).toHaveLength(1);
});

test('a name with several addresses is reached at the one that accepts connections', async () => {
  const server = await serve((_, response) => response.end('ok'));
  const egress = egressFor({ resolve: async () => ['::1', '127.0.0.1'] });
  expect(await text(egress, `http://both.test:${server.port}/`, { rules: OPEN })).toBe('ok');
});

test('a pooled connection is reused, but never for a call that may not reach its address', async () => {
  const server = await serve((_, response) => response.end('ok'));
  const dns = await dnsThat(() => ['127.0.0.1']);
  const dialled = watched();
  const egress = egressFor({ resolve: dns.resolve });
  const url = `http://intranet.test:${server.port}/`;
  // The pool may open a second connection while the first is being returned.
  for (let i = 0; i < 5; i++) await text(egress, url, { rules: OPEN });
  expect(dialled.length).toBeLessThanOrEqual(2);
  await expect(egress.fetch(url)).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
  await expect(egress.fetch(url, { rules: { ...OPEN, network: ['other.test'] } })).rejects.toMatchObject({
    kind: 'EGRESS_DENIED',
  });
  expect(server.requests).toHaveLength(5);
});

test.each([
  'http://127.0.0.1/',
  'http://[::ffff:7f00:1]/',
  'http://inside.test/',
  'http://169.254.169.254/',
  'file:///etc/passwd',
  'http://u:p@a.test/',
])('a chain of redirects that ends at %s is refused there', async (end) => {
  const server = await serve((request, response) =>
    response.writeHead(302, { location: request.url === '/1' ? '/2' : end }).end(),
  );
  const egress = egressFor({ resolve: async (name) => [name === 'inside.test' ? '10.0.0.1' : PUBLIC] });
  const dialled = watched({ [PUBLIC]: server.port });
  await expect(egress.fetch('http://start.test/1')).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
  expect(server.requests).toEqual(['GET /1', 'GET /2']);
  expect(new Set(dialled)).toEqual(new Set([`${PUBLIC}:80`]));
});

test('an endless redirect fails after the limit', async () => {
  const server = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  await expect(egressFor().fetch(server.url, { rules: OPEN, max_redirects: 3 })).rejects.toMatchObject({
    kind: 'EGRESS_FAILED',
    message: 'more than 3 redirects',
  });
  expect(server.requests).toHaveLength(4);
});

test('credentials are not sent to another origin, and a POST redirected with 303 becomes a GET without a body', async () => {
  const seen: unknown[] = [];
  const other = await serve((request, response) => {
    seen.push([
      request.method,
      request.headers.authorization,
      request.headers['x-api-key'],
      request.headers.accept,
      request.headers['content-type'],
    ]);
    response.end();
  });
  const server = await serve((request, response) => {
    if (request.url === '/') return response.writeHead(307, { location: '/same' }).end();
    seen.push([request.method, request.headers.authorization, request.headers['x-api-key']]);
    response.writeHead(303, { location: other.url }).end();
  });
  const headers = { Authorization: 'Bearer t', 'X-Api-Key': 'k', Accept: 'a/b', 'Content-Type': 'text/plain' };
  await text(egressFor(), server.url, { method: 'POST', headers, body: 'x', rules: OPEN });
  expect(seen).toEqual([
    ['POST', 'Bearer t', 'k'],
    ['GET', undefined, undefined, 'a/b', undefined],
  ]);
});

test.each([
  ['network: none', { network: 'none' as const }],
  ['a list without it', { network: ['example.com'] }],
  ['a denied tree', { deny_domains: ['*.shop.test'] }],
])('a domain that the rules do not allow is refused: %s', async (_name, rules) => {
  const dialled = watched();
  const egress = egressFor({ resolve: async () => [PUBLIC] });
  await expect(egress.fetch('http://api.shop.test/', { rules })).rejects.toMatchObject({ kind: 'EGRESS_DENIED' });
  expect(dialled).toEqual([]);
});

test('TLS uses the host name, not the dialled address', async () => {
  const names: string[] = [];
  const server = createTlsServer({
    SNICallback: (name, done) => {
      names.push(name);
      done(new Error('no certificate'));
    },
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => server.close());
  const egress = egressFor({ resolve: async () => ['127.0.0.1'] });
  const { port } = server.address() as AddressInfo;
  await expect(egress.fetch(`https://secure.test:${port}/`, { rules: OPEN })).rejects.toMatchObject({
    kind: 'EGRESS_FAILED',
  });
  expect(names).toEqual(['secure.test']);
});

test.skipIf(spawnSync('openssl', ['version']).error)(
  'a certificate is checked against the name (skipped without openssl)',
  async () => {
    const subject = ['-subj', '/CN=secure.test', '-addext', 'subjectAltName=DNS:secure.test'];
    const made = spawnSync('openssl', [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '1',
      '-keyout',
      '-',
      '-out',
      '-',
      ...subject,
    ]);
    const pem = made.stdout.toString();
    const server = createHttpsServer({ key: pem, cert: pem }, (_, response) => response.end('safe')).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    cleanups.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const resolve = async () => ['127.0.0.1'];
    const trusting = egressFor({ resolve, tls: { ca: pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')) } });
    expect(await text(trusting, `https://secure.test:${port}/`, { rules: OPEN })).toBe('safe');
    const failure = { kind: 'EGRESS_FAILED', retryable: false };
    await expect(trusting.fetch(`https://other.test:${port}/`, { rules: OPEN })).rejects.toMatchObject(failure);
    await expect(egressFor({ resolve }).fetch(`https://secure.test:${port}/`, { rules: OPEN })).rejects.toMatchObject(
      failure,
    );
  },
);

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
])('the size limit counts decompressed bytes: %s', async (encoding, compress) => {
  const bomb = compress(Buffer.alloc(2_000_000));
  const server = await serve((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bomb));
  const response = await egressFor().fetch(server.url, { rules: OPEN });
  const { bytes, cut } = await response.read({ max_bytes: 1000 });
  expect([bytes.length, cut]).toEqual([1000, 'size']);
});

test('a silent server times out, and a body that stalls gives the bytes received so far', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/half') response.write('half');
  });
  const egress = egressFor();
  await expect(egress.fetch(server.url, { rules: OPEN, first_byte_timeout_ms: 100 })).rejects.toMatchObject({
    kind: 'EGRESS_FAILED',
    context: { phase: 'first_byte' },
  });
  const response = await egress.fetch(`${server.url}/half`, { rules: OPEN });
  const { bytes, cut } = await response.read({ timeout_ms: 100 });
  expect([bytes.toString(), cut]).toEqual(['half', 'time']);
});

test('an aborted request rejects with the reason of the abort', async () => {
  const stop = new AbortController();
  const server = await serve(() => stop.abort(new Error('enough')));
  await expect(egressFor().fetch(server.url, { rules: OPEN, signal: stop.signal })).rejects.toThrow('enough');
});

test('a request that is aborted in onSend is never written to its open connection', async () => {
  const server = await serve((_, response) => response.writeHead(302, { location: '/moved' }).end());
  const stop = new AbortController();
  const sent: number[] = [];
  const onSend = () => {
    sent.push(server.requests.length);
    if (sent.length === 2) stop.abort(new Error('enough'));
  };
  const request = { method: 'POST', rules: OPEN, signal: stop.signal, onSend };
  await expect(egressFor().fetch(server.url, request)).rejects.toThrow('enough');
  expect(sent).toEqual([0, 1]);
  expect(server.requests).toEqual(['POST /']);
});

test('a header that controls framing or the host cannot be set', async () => {
  await expect(egressFor().fetch('http://a.test/', { headers: { Host: 'inside' } })).rejects.toMatchObject({
    kind: 'INVALID_INPUTS',
  });
});

test('the dispatcher applies the rules to redirects that its client follows', async () => {
  const server = await serve((_, response) => response.writeHead(302, { location: 'http://127.0.0.1:8080/' }).end());
  const domains: string[] = [];
  const dialled = watched({ [PUBLIC]: server.port });
  const egress = egressFor({ resolve: async () => [PUBLIC] });
  const dispatcher = egress.dispatcher({}, (domain) => domains.push(domain));
  await expect(undiciFetch('http://start.test/', { dispatcher })).rejects.toMatchObject({
    cause: { kind: 'EGRESS_DENIED' },
  });
  expect(domains).toEqual(['start.test']);
  expect(dialled).toEqual([`${PUBLIC}:80`]);
});

test('contacted hosts are reported, refused hosts are not', async () => {
  const server = await serve((_, response) => response.writeHead(302, { location: 'http://inside.test/' }).end());
  const domains: string[] = [];
  watched({ [PUBLIC]: server.port });
  const egress = egressFor({ resolve: async (name) => [name === 'inside.test' ? '10.0.0.1' : PUBLIC] });
  await expect(egress.fetch('http://start.test/', { onDomain: (domain) => domains.push(domain) })).rejects.toThrow();
  expect(domains).toEqual(['start.test']);
});
