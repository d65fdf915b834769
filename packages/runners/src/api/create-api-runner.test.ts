import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { Binding, JsonObject, Limits } from '@capstan/contracts';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Call } from '../runner.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createApiRunner } from './create-api-runner.js';
import { createConverter } from './html/create-converter.js';
import { createWebFetch } from './web-fetch.js';

const runner = createApiRunner({
  web_fetch: createWebFetch({ first_byte_ms: 1000, body_ms: 200 }),
  converter: createConverter({ timeout_ms: 3000 }),
});
afterAll(() => runner.close?.());

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers what it was asked. */
const echo: RequestListener = async (request, response) => {
  const { method, url, headers } = request;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
};

const OPEN: Limits = { timeout_ms: 10_000, max_output_bytes: 1_000_000, deny_private_ips: false };

const run = (tool_id: string, inputs: JsonObject, over: Partial<Call> = {}, binding: Binding = { kind: 'native' }) =>
  runner.run(testCall(testDescriptor({ tool_id, runner: 'api', binding }), { inputs, limits: OPEN, ...over }));

describe('api.call', () => {
  test('sends a method, headers, a query and JSON, and parses the answer', async () => {
    const url = await serve(echo);
    const outcome = await run('api.call', {
      method: 'POST',
      url: `${url}/items?a=1`,
      headers: { 'X-One': '1' },
      query: { b: ['x y', 2] },
      body: { name: 'é' },
    });
    expect(outcome).toMatchObject({
      success: true,
      payload: {
        status_code: 200,
        encoding: 'json',
        body: {
          method: 'POST',
          url: '/items?a=1&b=x+y&b=2',
          headers: { 'x-one': '1', 'content-type': 'application/json' },
          body: '{"name":"é"}',
        },
      },
      facts: { observed: { domains: ['127.0.0.1'] } },
    });
  });

  test.each([
    ['text', 'plain words', 'text/plain; charset=utf-8', 'plain words'],
    ['form', { a: '1&2', b: ['x', 'y'] }, 'application/x-www-form-urlencoded', 'a=1%262&b=x&b=y'],
  ])('sends a body as %s', async (body_type, body, type, sent) => {
    const url = await serve(echo);
    const outcome = await run('api.call', { method: 'PUT', url, body, body_type });
    expect(outcome).toMatchObject({ payload: { body: { body: sent, headers: { 'content-type': type } } } });
  });

  test('an answer can be taken as text or base64', async () => {
    const url = await serve((_, response) => response.end('{"a":1}'));
    expect(await run('api.call', { url, response: 'text' })).toMatchObject({ payload: { body: '{"a":1}' } });
    expect(await run('api.call', { url, response: 'base64' })).toMatchObject({ payload: { body: 'eyJhIjoxfQ==' } });
    expect(await run('api.call', { url, response: 'json' })).toMatchObject({ payload: { body: { a: 1 } } });
  });

  test('a status that was not expected fails, and shows the answer', async () => {
    const url = await serve((_, response) => response.writeHead(404).end('nope'));
    expect(await run('api.call', { url })).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      retryable: false,
      error: expect.stringContaining('answered 404'),
      payload: { status_code: 404, body: 'nope' },
    });
    expect(await run('api.call', { url, expected_status: [404] })).toMatchObject({ success: true });
  });

  test('what is not JSON, although JSON was asked for, fails and is shown', async () => {
    const url = await serve((_, response) => response.end('<html>'));
    expect(await run('api.call', { url, response: 'json' })).toMatchObject({
      success: false,
      payload: { body: '<html>' },
    });
  });

  test('a busy server is asked again, after the time it names', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      if (asked < 3) response.writeHead(asked === 1 ? 503 : 429, { 'retry-after': '0' }).end();
      else response.end('ok');
    });
    expect(await run('api.call', { url })).toMatchObject({ success: true, payload: { body: 'ok' } });
    expect(asked).toBe(3);
  });

  test.each([{ status: 503 }, { status: null }])('a POST is never sent twice: %j', async ({ status }) => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked++;
      status === null ? request.socket.destroy() : response.writeHead(status).end();
    });
    expect(await run('api.call', { url, method: 'POST', body: {} })).toMatchObject({
      success: false,
      retryable: false,
    });
    expect(asked).toBe(1);
  });

  test('a POST with an idempotency key may be', async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked++;
      asked === 1 ? request.socket.destroy() : response.end('ok');
    });
    const inputs = { url, method: 'POST', headers: { 'Idempotency-Key': 'k' }, body: {} };
    expect(await run('api.call', inputs)).toMatchObject({ success: true });
    expect(asked).toBe(2);
  });

  test('secrets go by reference, and never over plain http to the public', async () => {
    const url = await serve(echo);
    const asked: string[] = [];
    const secret = async (name: string) => {
      asked.push(name);
      return 's3cr3t-value';
    };
    const headers = { Authorization: 'Bearer secret://api_token' };
    const outcome = await run('api.call', { url, headers }, { secret });
    expect(outcome).toMatchObject({ payload: { body: { headers: { authorization: 'Bearer s3cr3t-value' } } } });
    const strict = { ...OPEN, deny_private_ips: true };
    expect(await run('api.call', { url: 'http://example.com', headers }, { secret, limits: strict })).toMatchObject({
      success: false,
      kind: 'EGRESS_DENIED',
    });
    expect(asked).toEqual(['api_token']);
  });

  test('an answer larger than allowed fails; text longer than the output is cut after it is redacted', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(1000)));
    const small = { ...OPEN, max_response_bytes: 100 };
    expect(await run('api.call', { url }, { limits: small })).toMatchObject({ success: false, kind: 'TOOL_ERROR' });
    const short = { ...OPEN, max_output_bytes: 10 };
    expect(await run('api.call', { url }, { limits: short })).toMatchObject({
      truncated: true,
      payload: { body: 'x'.repeat(10) },
    });
  });

  test('private addresses, other schemes and other domains are refused', async () => {
    const url = await serve(() => {
      throw new Error('was reached');
    });
    const limits = { ...OPEN, deny_private_ips: true };
    for (const one of [url, 'http://localhost/', 'file:///etc/passwd', 'http://169.254.169.254/'])
      expect(await run('api.call', { url: one }, { limits }), one).toMatchObject({
        success: false,
        kind: 'EGRESS_DENIED',
        facts: { observed: { domains: [] } },
      });
    expect(await run('api.call', { url }, { limits: { ...OPEN, network: ['example.com'] } })).toMatchObject({
      kind: 'EGRESS_DENIED',
    });
  });

  test('an abort ends it', async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort(new Error('canceled')));
    await expect(run('api.call', { url }, { signal: stop.signal })).rejects.toThrow('canceled');
  });

  test.each([{ url: 'nonsense' }, { url: 'http://a/', body: 1 }, { url: 'http://a/', nope: 1 }])(
    'refuses inputs %j',
    async (inputs) => {
      expect(await run('api.call', inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
    },
  );
});

describe('http.get', () => {
  test('any status is an answer, and JSON stays text', async () => {
    const url = await serve((_, response) =>
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"a": 1}'),
    );
    expect(await run('http.get', { url, headers: { accept: '*/*' } })).toMatchObject({
      success: true,
      payload: { status_code: 500, headers: { 'content-type': 'application/json' }, body: '{"a": 1}', url: `${url}/` },
    });
  });

  test('a body that is no text comes as base64', async () => {
    const url = await serve((_, response) => response.end(Buffer.from([0, 255, 1])));
    expect(await run('http.get', { url })).toMatchObject({ payload: { body: 'AP8B', encoding: 'base64' } });
  });
});

describe('a request of an extension', () => {
  const binding = (over: object): Binding => ({ kind: 'request', extension_id: 'x', method: 'GET', ...over });

  test('inputs go where the template has them, each as no more than a value', async () => {
    const url = await serve(echo);
    const request = binding({
      method: 'post',
      url: `${url}/users/{{id}}/notes`,
      headers: { 'X-Tag': '{{tag}}', 'X-None': '{{none}}' },
      query: { q: '{{q}}' },
      body: { text: 'Re: {{q}}', count: '{{count}}', none: '{{none}}', list: ['{{id}}'] },
    });
    const inputs = { id: '../a?b#c', tag: 't', q: 'x&y="1"', count: 3 };
    const outcome = await run('ext:x:note', inputs, {}, request);
    expect(outcome).toMatchObject({
      payload: {
        body: { method: 'POST', url: '/users/..%2Fa%3Fb%23c/notes?q=x%26y%3D%221%22', headers: { 'x-tag': 't' } },
      },
    });
    expect(outcome).toMatchObject({
      payload: {
        body: {
          headers: expect.not.objectContaining({ 'x-none': expect.anything() }),
          body: JSON.stringify({ text: 'Re: x&y="1"', count: 3, list: ['../a?b#c'] }),
        },
      },
    });
  });

  test('a body that is written as JSON text is filled as JSON', async () => {
    const url = await serve(echo);
    const request = binding({ method: 'POST', url, body: '{"a": "{{a}}"}' });
    const outcome = await run('ext:x:y', { a: '", "admin": true, "b": "' }, {}, request);
    expect(outcome).toMatchObject({ payload: { body: { body: JSON.stringify({ a: '", "admin": true, "b": "' }) } } });
  });

  test.each([['..'], ['.']])('a path cannot be left with %s', async (id) => {
    const url = await serve(echo);
    const request = binding({ url: `${url}/users/{{id}}/x` });
    expect(await run('ext:x:y', { id }, {}, request)).toMatchObject({ kind: 'INVALID_INPUTS' });
  });

  test('without an address of its own it takes the one that was typed', async () => {
    const url = await serve(echo);
    expect(await run('ext:x:get', { args: [`${url}/typed`] }, {}, binding({}))).toMatchObject({
      payload: { body: { url: '/typed' } },
    });
  });

  test('an action of ours runs with what the extension sets', async () => {
    const url = await serve(echo);
    const action: Binding = { kind: 'action', extension_id: 'x', action: 'api.call', preset: { method: 'DELETE' } };
    expect(await run('ext:x:del', { url, method: 'GET' }, {}, action)).toMatchObject({
      payload: { body: { method: 'DELETE' } },
    });
  });
});

describe('web_fetch', () => {
  const fetchPage = (inputs: JsonObject, over: Partial<Call> = {}) => run('cap:web_fetch:web_fetch', inputs, over);
  const PAGE =
    '<!doctype html><html><head><title>T</title><style>p{}</style></head><body><h1>Head</h1><script>bad()</script>' +
    '<p>Some <b>bold</b> <a href="/x">link</a></p><ul><li>one</li></ul><pre><code>let a;</code></pre></body></html>';
  const html =
    (body: string | Buffer, headers = {}): RequestListener =>
    (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body);

  test('HTML becomes markdown, without scripts and styles', async () => {
    const url = await serve(html(PAGE));
    const outcome = await fetchPage({ url, as_markdown: true, as_text: true });
    expect(outcome).toMatchObject({
      success: true,
      payload: {
        url,
        status_code: 200,
        content_type: 'text/html; charset=utf-8',
        size: PAGE.length,
        format: 'markdown',
        truncated: false,
      },
    });
    const content = '# Head\n\nSome **bold** [link](/x)\n\n-   one\n\n```\nlet a;\n```';
    expect(outcome).toMatchObject({ payload: { content } });
  });

  test('HTML becomes text, or stays as it is', async () => {
    const url = await serve(html(gzipSync(PAGE), { 'content-encoding': 'gzip' }));
    expect(await fetchPage({ url, as_text: true })).toMatchObject({
      payload: { format: 'text', content: expect.stringMatching(/^Head\n\nSome bold link/) },
    });
    expect(await fetchPage({ url })).toMatchObject({ payload: { format: 'raw', content: PAGE, size: PAGE.length } });
  });

  test('binary content answers with metadata and an explanation', async () => {
    const url = await serve((_, response) =>
      response
        .writeHead(200, {
          'content-type': 'application/pdf',
          'content-length': '3',
          'last-modified': 'Mon, 01 Jan 2024 00:00:00 GMT',
          'content-disposition': `attachment; filename="a/b;c.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`,
        })
        .end('pdf'),
    );
    expect(await fetchPage({ url })).toEqual({
      success: true,
      truncated: false,
      payload: {
        url,
        status_code: 200,
        content_type: 'application/pdf',
        size: 3,
        last_modified: 'Mon, 01 Jan 2024 00:00:00 GMT',
        filename: 'résumé.pdf',
        error: expect.stringContaining('Binary content is not supported'),
      },
      facts: { observed: { domains: ['127.0.0.1'] } },
    });
  });

  test('HEAD has no content, and the name of a file may come from the URL', async () => {
    const url = await serve((request, response) =>
      response
        .writeHead(request.method === 'HEAD' ? 200 : 500, { 'content-type': 'text/plain', 'content-length': '12' })
        .end(),
    );
    const outcome = await fetchPage({ url: `${url}/docs/read%20me.txt`, method: 'HEAD' });
    expect(outcome).toMatchObject({ payload: { status_code: 200, size: 12, filename: 'read me.txt' } });
    expect(outcome).not.toHaveProperty('payload.content');
  });

  test('a body that does not end leaves what came, and says so', async () => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).write('begin'));
    expect(await fetchPage({ url })).toMatchObject({
      success: true,
      truncated: true,
      payload: { truncated: true, content: expect.stringMatching(/^begin\s*\[\.\.more content timed out\.\.\.\]$/) },
    });
  });

  test('a server that does not answer within a second fails', async () => {
    const url = await serve(() => {});
    expect(await fetchPage({ url })).toMatchObject({ success: false, error: 'server did not respond within 1 second' });
  });

  test.each(['ftp://a/', 'nonsense', 'http://'])('refuses the URL %s', async (url) => {
    expect(await fetchPage({ url })).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
  });

  test('a page that nests without end is given as it is, and the next one converts', async () => {
    const deep = await serve(html('<div>'.repeat(200_000)));
    expect(await fetchPage({ url: deep, as_markdown: true })).toMatchObject({ success: true });
    const url = await serve(html('<b>x</b>'));
    expect(await fetchPage({ url, as_markdown: true })).toMatchObject({
      payload: { content: '**x**', format: 'markdown' },
    });
  });

  test('other encodings are read by their name', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' }).end(Buffer.from('é', 'latin1')),
    );
    expect(await fetchPage({ url })).toMatchObject({ payload: { content: 'é' } });
  });
});
