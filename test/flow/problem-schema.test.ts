import { compileSchema } from '@capstan/catalog';
import { expect, test } from 'vitest';
import { submission, useGateway } from './use-gateway.js';

const { its, call } = useGateway();

test('error responses of the gateway match the Problem schema of its own /openapi.json', async () => {
  const { json: document } = await call('GET', '/openapi.json', { key: null });
  const check = compileSchema(document.components.schemas.Problem);
  await its.system.admin.quotas.set('tool:cap:test_math:divide', { calls_per_day: 0, on_exceed: 'deny' });
  const post = (path: string, body: unknown) =>
    call('POST', path, { body: typeof body === 'string' ? body : JSON.stringify(body) });
  const keyed = (a: number) => post('/v1/invocations', submission({ inputs: { a, b: 1 }, idempotency_key: 'once' }));
  await keyed(1);
  const answers = {
    'no key': await call('GET', '/v1/invocations', { key: null }),
    'no such route': await call('GET', '/v1/nothing'),
    'another method': await call('PUT', '/v1/invocations'),
    'no such id': await call('GET', '/v1/invocations/inv_unknown'),
    'malformed JSON': await post('/v1/invocations', '{"tool_id": '),
    'an unknown field': await post('/v1/invocations', submission({ prioritee: 1 })),
    'an unknown parameter': await call('GET', '/v1/invocations?colour=red'),
    'wrong inputs': await post('/v1/invocations', submission({ inputs: { a: 1, b: 'two' } })),
    'an unknown tool': await post('/v1/invocations', submission({ tool_id: 'cap:test_math:ad' })),
    'denied by policy': await post('/v1/invocations', { tool_id: 'shell.run', inputs: { cmd: ['true'] } }),
    'denied by a quota': await post('/v1/invocations', submission({ tool_id: 'cap:test_math:divide' })),
    'a key used twice': await keyed(2),
    'a wrong policy': await post('/v1/policy/explain', { ...submission(), policy: 'rules:\n  - { mach: {} }\n' }),
    'a wrong plan': await post('/v1/runs', { steps: [{ id: 'a', tool: 'nope' }] }),
    'a wrong extension': await post('/v1/extensions', { files: { 'extension.yaml': 'a: [' } }),
    'too large': await post('/v1/invocations', submission({ labels: { x: 'x'.repeat(1_100_000) } })),
    'another type': await call('POST', '/v1/invocations', { body: '<a/>', headers: { 'content-type': 'text/xml' } }),
  };
  for (const [mistake, { status, type, json }] of Object.entries(answers)) {
    expect({ mistake, type, refused: status >= 400, errors: check(json) }).toEqual({
      mistake,
      type: 'application/problem+json; charset=utf-8',
      refused: true,
      errors: [],
    });
    expect(json).toHaveProperty('request_id');
  }
  const { suggestion: _, ...incomplete } = answers['no such id'].json;
  expect(check(incomplete)).not.toEqual([]);
});
