import { describe, expect, test } from 'vitest';
import { submission, useGateway } from './use-gateway.js';

const { call } = useGateway();

const send = (key: string, over: object = {}, path = '/v1/invocations') =>
  call('POST', path, { body: JSON.stringify(submission(over)), headers: { 'idempotency-key': key } });

describe('the header Idempotency-Key', () => {
  test('means the same as idempotency_key in the body: every repeat gets the first call', async () => {
    const first = await send('order-1');
    expect(first).toMatchObject({ status: 202, json: { idempotency_key: 'order-1' } });
    const { invocation_id } = first.json;
    expect((await send('order-1')).json.invocation_id).toBe(invocation_id);
    expect((await send('order-1', { idempotency_key: 'order-1' })).json.invocation_id).toBe(invocation_id);
    const body = JSON.stringify(submission({ idempotency_key: 'order-1' }));
    expect((await call('POST', '/v1/invocations', { body })).json.invocation_id).toBe(invocation_id);
    expect(await send('order-1', { inputs: { a: 5, b: 5 } })).toMatchObject({ status: 409, json: { code: 3006 } });
  });

  test('is refused if it differs from the body or is not a valid key', async () => {
    expect(await send('order-2', { idempotency_key: 'order-3' })).toMatchObject({
      status: 400,
      json: { code: 3002, errors: [{ field: 'idempotency_key', message: expect.stringContaining('differs') }] },
    });
    for (const key of ['', 'caf\u00e9', 'x'.repeat(256)])
      expect(await send(key)).toMatchObject({ status: 400, json: { code: 3002 } });
  });

  test('keeps the tool calls of a response from being submitted twice', async () => {
    const body = JSON.stringify({
      provider: 'anthropic',
      response: {
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'cap_test_math_add', input: { a: 1, b: 2 } }],
      },
    });
    const sendCalls = () => call('POST', '/v1/tool-calls', { body, headers: { 'idempotency-key': 'turn-1' } });
    const [first, again] = [await sendCalls(), await sendCalls()];
    expect(first.json.invocations).toMatchObject([{ idempotency_key: expect.stringContaining('turn-1') }]);
    expect(again.json.invocations[0].invocation_id).toBe(first.json.invocations[0].invocation_id);
  });

  test('is described by /openapi.json', async () => {
    const { json } = await call('GET', '/openapi.json', { key: null });
    for (const path of ['/v1/invocations', '/v1/tool-calls'])
      expect(json.paths[path].post.parameters).toContainEqual(
        expect.objectContaining({ name: 'Idempotency-Key', in: 'header' }),
      );
  });
});
