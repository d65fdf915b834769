import { describe, expect, test } from 'vitest';
import { serve } from '../testing/serve.js';
import { useTestApi } from './testing/use-test-api.js';

const run = useTestApi();

describe('http.get', () => {
  test('any status is a success, and JSON stays text', async () => {
    const url = await serve((_, response) =>
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"a": 1}'),
    );
    expect(await run('http.get', { url, headers: { accept: '*/*' } })).toMatchObject({
      success: true,
      payload: { status_code: 500, headers: { 'content-type': 'application/json' }, body: '{"a": 1}', url: `${url}/` },
    });
  });

  test('a binary body is returned as base64', async () => {
    const url = await serve((_, response) => response.end(Buffer.from([0, 255, 1])));
    expect(await run('http.get', { url })).toMatchObject({ payload: { body: 'AP8B', encoding: 'base64' } });
  });
});
