import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { submission, useGateway } from './use-gateway.js';

const { its, call, post } = useGateway();

describe('the gateway answers with a problem document to', () => {
  test.each([
    ['malformed JSON', '{"tool_id": ', 400, 3001],
    ['an empty body', '', 400, 3002],
    ['an unknown field', submission({ prioritee: 1 }), 400, 3002],
    ['a wrong type', submission({ timeout_ms: 'soon' }), 400, 3002],
    ['both delay_ms and run_at', submission({ delay_ms: 1, run_at: '2030-01-01T00:00:00Z' }), 400, 3002],
    ['an array for inputs', submission({ inputs: [] }), 400, 3002],
    ['inputs that the tool does not take', submission({ inputs: { a: 1 } }), 422, 2002],
    ['half of a surrogate pair', `{"tool_id":"shell.run","inputs":{"cmd":["\\ud800"]}}`, 422, 2002],
    ['an unknown tool', submission({ tool_id: 'cap:test_math:ad' }), 404, 2001],
    ['a tool that no rule allows', { tool_id: 'shell.run', inputs: { cmd: ['true'] } }, 403, 1001],
    ['a body over the limit', submission({ inputs: { a: 1, b: 2, c: 'x'.repeat(1_100_000) } }), 413, 3003],
  ])('%s', async (_, body, status, code) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status, type: expect.stringContaining('application/problem+json') });
    expect(answer.json).toMatchObject({
      status,
      code,
      type: expect.any(String),
      title: expect.any(String),
      detail: expect.any(String),
      suggestion: expect.any(String),
    });
    expect(answer.text).not.toContain('node_modules');
  });

  test('a wrong field, and names it', async () => {
    const { json } = await post(submission({ inputs: { a: 1, b: 'two' } }));
    expect(json.errors).toEqual([{ field: 'inputs.b', message: 'must be a number, not a string' }]);
  });

  test('an unknown tool, and suggests the nearest one', async () => {
    const { json } = await post(submission({ tool_id: 'cap:test_math:ad' }));
    expect(json.suggestion).toContain('cap:test_math:add');
  });

  test('a content type that it does not accept', async () => {
    const answer = await call('POST', '/v1/invocations', { body: '<a/>', headers: { 'content-type': 'text/xml' } });
    expect(answer).toMatchObject({ status: 415, json: { code: 3007 } });
  });

  test.each(['/v1/nothing', '/nothing', '/v1/invocations/inv_x/nothing'])('an unknown route: %s', async (path) => {
    expect(await call('GET', path)).toMatchObject({ status: 404, json: { code: 3008 } });
  });

  test.each([
    ['PUT', '/v1/invocations', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/keys/key_x', 'DELETE'],
    ['DELETE', '/v1/invocations/cancel', 'GET, HEAD, POST'],
    ['PATCH', '/v1/sessions/ses_x/files/a/b.txt?x=1', 'DELETE, GET, HEAD, PUT'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['PUT', '/mcp', 'DELETE, GET, HEAD, POST'],
  ])('%s %s, which does not exist, and lists the methods that do', async (method, path, allow) => {
    const answer = await call(method, path, { key: null });
    expect(answer).toMatchObject({
      status: 405,
      type: expect.stringContaining('application/problem+json'),
      json: {
        status: 405,
        code: 3013,
        detail: `There is no ${method} ${path.split('?')[0]}.`,
        suggestion: expect.any(String),
      },
    });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test('an unknown field in a request that needs no body', async () => {
    const answer = await call('POST', '/v1/invocations/inv_x/cancel', { body: '{"reason":"x"}' });
    expect(answer).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test('a character that Postgres cannot store', async () => {
    expect(await call('GET', '/v1/holds/a%00b')).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test.each([
    ['bytes that are not HTTP', 'HELLO\r\n\r\n', 400],
    ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s', async (_, sent, status) => {
    const socket = connect(Number(new URL(its.system.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(sent);
    const answer = await readText(socket);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ status, suggestion: expect.any(String) });
  });

  test.each(['inv_unknown', 'x'.repeat(500), '..%2f..%2fetc', "'; DROP TABLE invocations; --"])(
    'an unknown id: %s',
    async (id) => {
      expect(await call('GET', `/v1/invocations/${encodeURIComponent(id)}`)).toMatchObject({ status: 404 });
    },
  );

  test.each([
    'cursor=abc',
    'limit=0',
    'limit=9999999',
    'status=sleeping',
    'colour=red',
    'since=yesterday',
    'since=0000-01-01T00:00:00Z',
    'tool_id=',
    'label=%00',
  ])('an invalid query: %s', async (query) => {
    expect(await call('GET', `/v1/invocations?${query}`)).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test.each([{}, { label: [] }, { status: [] }, { tool_id: '' }])(
    'a filter that would act on everything: %o',
    async (filter) => {
      for (const act of ['cancel', 'redrive'])
        expect(await call('POST', `/v1/invocations/${act}`, { body: JSON.stringify(filter) })).toMatchObject({
          status: 400,
        });
    },
  );

  test('a wait that is not a number', async () => {
    expect(await call('POST', '/v1/invocations?wait=soon', { body: JSON.stringify(submission()) })).toMatchObject({
      status: 400,
    });
  });
});
