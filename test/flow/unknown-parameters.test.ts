import { describe, expect, test } from 'vitest';
import { submission, useGateway } from './use-gateway.js';

const { its, call } = useGateway();

describe('an unknown query parameter', () => {
  test('is refused by every route that /openapi.json names', async () => {
    const { json } = await call('GET', '/openapi.json', { key: null });
    const routes = Object.entries<object>(json.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => [method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')] as const),
    );
    expect(routes.length).toBeGreaterThan(80);
    for (const [method, path] of routes) {
      const answer = await call(method, `${path}?colour=red`);
      expect({ method, path, ...answer }).toMatchObject({
        status: 400,
        json: { code: 3002, errors: [{ field: 'colour', message: 'is not a known query parameter' }] },
      });
    }
  });

  test('is refused with the nearest known one, and the call is not accepted', async () => {
    const answer = await call('POST', '/v1/invocations?weit=5', {
      body: JSON.stringify(submission({ labels: { sent: 'misspelt' } })),
    });
    expect(answer).toMatchObject({
      status: 400,
      json: {
        detail: 'weit: is not a known query parameter',
        suggestion: expect.stringContaining('Did you mean wait?'),
      },
    });
    expect((await its.system.admin.list({ label: 'sent:misspelt' }).page()).items).toEqual([]);
  });

  test('is refused with a hint if the route takes no parameters', async () => {
    const { json } = await call('GET', '/healthz?verbose=1', { key: null });
    expect(json.suggestion).toBe('This route takes no query parameters.');
  });
});
