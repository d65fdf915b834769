import { createRedactor } from '@capstan/redact';
import { describe, expect, test } from 'vitest';
import type { Call } from '../runner.js';
import { serve } from '../testing/serve.js';
import { echo, OPEN, useTestApi } from './testing/use-test-api.js';

const run = useTestApi();

describe('api.call', () => {
  test('sends a method, headers, a query and JSON, and parses the response', async () => {
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

  test('a call that is lost while its connection is opened is not sent', async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      requests += 1;
      response.end();
    });
    const lost = new AbortController();
    const outcome = await run(
      'api.call',
      { method: 'POST', url },
      { signal: lost.signal, beforeEffect: () => lost.abort() },
    );
    expect(outcome).toMatchObject({ success: false });
    expect(requests).toBe(0);
  });

  test('a response can be returned as text or base64', async () => {
    const url = await serve((_, response) => response.end('{"a":1}'));
    expect(await run('api.call', { url, response: 'text' })).toMatchObject({ payload: { body: '{"a":1}' } });
    expect(await run('api.call', { url, response: 'base64' })).toMatchObject({ payload: { body: 'eyJhIjoxfQ==' } });
    expect(await run('api.call', { url, response: 'json' })).toMatchObject({ payload: { body: { a: 1 } } });
  });

  test('an unexpected status is a failure that includes the response', async () => {
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

  test('a response that is not JSON, although JSON was requested, is a failure that includes it', async () => {
    const url = await serve((_, response) => response.end('<html>'));
    expect(await run('api.call', { url, response: 'json' })).toMatchObject({
      success: false,
      payload: { body: '<html>' },
    });
  });

  test('a busy server is retried after the time in Retry-After', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      if (asked < 3) response.writeHead(asked === 1 ? 503 : 429, { 'retry-after': '0' }).end();
      else response.end('ok');
    });
    expect(await run('api.call', { url })).toMatchObject({ success: true, payload: { body: 'ok' } });
    expect(asked).toBe(3);
  });

  test('a busy server is not retried if Retry-After exceeds the timeout', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      response.writeHead(503, { 'retry-after': '4' }).end();
    });
    expect(await run('api.call', { url, timeout_ms: 1000 })).toMatchObject({
      success: false,
      retryable: true,
      payload: { status_code: 503 },
    });
    expect(asked).toBe(1);
  });

  test('an empty response is null if JSON was requested', async () => {
    const url = await serve((_, response) => response.writeHead(204).end());
    expect(await run('api.call', { url, response: 'json' })).toMatchObject({
      success: true,
      payload: { status_code: 204, body: null },
    });
  });

  test('events are logged as they happen, without queries and secrets', async () => {
    const lines: string[] = [];
    const url = await serve((request, response) => {
      lines.push(`(${request.url})`);
      if (request.url === '/tok-0123456789abcdef?key=1') response.writeHead(302, { location: '/there?key=2' }).end();
      else response.end('hello');
    });
    const { host } = new URL(url);
    const redact = createRedactor({ values: ['tok-0123456789abcdef'] });
    const log: Call['log'] = (stream, text) => lines.push(`${stream}: ${text}`);
    await run('api.call', { url: `${url}/tok-0123456789abcdef`, query: { key: 1 } }, { redact, log });
    expect(lines).toEqual([
      `stderr: GET ${host}/${redact.text('tok-0123456789abcdef')}\n`,
      '(/tok-0123456789abcdef?key=1)',
      '(/there?key=2)',
      `stderr: redirected to ${host}/there\n`,
      'stderr: answered 200, 5 bytes\n',
    ]);
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
      kind: status === null ? 'OUTCOME_UNKNOWN' : 'TOOL_ERROR',
    });
    expect(asked).toBe(1);
  });

  test('a POST whose redirect leads to a closed port has an unknown outcome and is not sent again', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked++;
      response.writeHead(303, { location: 'http://127.0.0.1:1/' }).end();
    });
    expect(await run('api.call', { url, method: 'POST', body: {} })).toMatchObject({ kind: 'OUTCOME_UNKNOWN' });
    expect(asked).toBe(1);
  });

  test('a POST to a closed port was never sent, so it fails and may be retried', async () => {
    expect(await run('api.call', { url: 'http://127.0.0.1:1/', method: 'POST', body: {} })).toMatchObject({
      kind: 'EGRESS_FAILED',
      retryable: true,
    });
  });

  test.each([
    { method: 'POST', kind: 'OUTCOME_UNKNOWN', retryable: false },
    { method: 'PUT', kind: 'EGRESS_FAILED', retryable: true },
  ])('a truncated response is requested again only if that is safe: %j', async ({ method, kind, retryable }) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('begin', () => response.destroy());
    });
    const outcome = await run('api.call', { url, method, body: {} });
    expect(outcome).toMatchObject({ success: false, kind, retryable });
  });

  test('a POST with an idempotency key may be sent twice', async () => {
    let asked = 0;
    const url = await serve((request, response) => {
      asked++;
      asked === 1 ? request.socket.destroy() : response.end('ok');
    });
    const inputs = { url, method: 'POST', headers: { 'Idempotency-Key': 'k' }, body: {} };
    expect(await run('api.call', inputs)).toMatchObject({ success: true });
    expect(asked).toBe(2);
  });

  test('secrets are passed by reference, and never over plain http to public servers', async () => {
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

  test('a response larger than allowed fails; text longer than the output limit is truncated after redaction', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(1000)));
    const small = { ...OPEN, max_response_bytes: 100 };
    expect(await run('api.call', { url }, { limits: small })).toMatchObject({
      success: false,
      kind: 'TOOL_ERROR',
      error: expect.stringContaining('a policy allows more with max_response_bytes'),
    });
    const short = { ...OPEN, max_output_bytes: 10 };
    expect(await run('api.call', { url }, { limits: short })).toMatchObject({
      truncated: true,
      payload: { body: 'x'.repeat(10) },
    });
  });

  test('secrets in base64 are redacted, and base64 is truncated between groups', async () => {
    const redact = createRedactor({ values: ['tok-0123456789abcdef'] });
    const url = await serve((_, response) => response.end('it is tok-0123456789abcdef!'));
    const taken = (limits = OPEN) => run('api.call', { url, response: 'base64' }, { redact, limits });
    const clean = Buffer.from(redact.text('it is tok-0123456789abcdef!')).toString('base64');
    expect(await taken()).toMatchObject({ payload: { body: clean, encoding: 'base64' } });
    expect(await taken({ ...OPEN, max_output_bytes: 10 })).toMatchObject({
      truncated: true,
      payload: { body: clean.slice(0, 8) },
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

  test('an abort ends it, and the contacted hosts are reported', async () => {
    const stop = new AbortController();
    const url = await serve(() => stop.abort(new Error('canceled')));
    const outcome = await run('api.call', { url, method: 'POST' }, { signal: stop.signal });
    expect(outcome).toMatchObject({ kind: 'CANCELED', facts: { observed: { domains: ['127.0.0.1'] } } });
  });

  test('the deadline of the call is up to the worker, a timeout of its own is not', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/half') response.write('begin');
    });
    const limits = { ...OPEN, timeout_ms: 20 };
    for (const path of ['/', '/half']) {
      const signal = AbortSignal.timeout(100);
      expect(await run('api.call', { url: url + path }, { limits, signal })).toMatchObject({ error: 'stopped' });
      const own = await run('api.call', { url: url + path, timeout_ms: 20 });
      expect(own).toMatchObject({ error: expect.stringMatching(/did not respond within|was not complete after/) });
    }
  });

  test.each([{ url: 'nonsense' }, { url: 'http://a/', body: 1 }, { url: 'http://a/', nope: 1 }])(
    'refuses inputs %j',
    async (inputs) => {
      expect(await run('api.call', inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
    },
  );
});
