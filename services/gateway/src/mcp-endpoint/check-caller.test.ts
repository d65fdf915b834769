import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createLog } from '@capstan/backbone';
import { afterAll, describe, expect, test } from 'vitest';
import { createApp } from '../http/create-app.js';
import { type CallerRules, createCallerCheck } from './check-caller.js';

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

/** A real server that answers 200 unless the check refuses the caller. */
async function serve(rules: Partial<CallerRules> = {}) {
  const app = createApp(createLog('test', 'silent'), { body_limit: 1024 });
  const check = createCallerCheck({ host: '127.0.0.1', ...rules });
  app.get('/', { onRequest: async (asked) => check(asked) }, () => 'welcome');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  closing.push(() => app.close());
  return async (headers: Record<string, string>) => {
    // Not fetch, because it sets Host itself.
    const [response]: IncomingMessage[] = await once(request(url, { headers }).end(), 'response');
    if (!response) throw new Error('no response');
    return { status: response.statusCode, body: await text(response) };
  };
}

describe('an endpoint that only its own pages may call', async () => {
  const own = await serve();
  const configured = await serve({
    public_url: 'https://capstan.example.com/base/',
    allowed_hosts: ['gateway', '*.internal.example'],
    allowed_origins: ['https://console.example.com/'],
  });

  test.each([
    {},
    { host: 'localhost:7070' },
    { host: 'LOCALHOST' },
    { host: '127.0.0.1:1' },
    { host: '[::1]:7070' },
    { host: 'localhost:7070', origin: 'http://localhost:7070' },
    { host: '127.0.0.1:7070', origin: 'http://localhost:3000' },
  ])('answers a caller on this machine with %j', async (headers) => {
    expect(await own(headers)).toMatchObject({ status: 200 });
  });

  test.each([
    { host: 'evil.example' },
    { host: 'evil.example:7070', origin: 'http://evil.example:7070' },
    { host: 'localhost.evil.example' },
    { host: '127.0.0.1.nip.io' },
    { host: 'localhost@evil.example' },
    { host: 'evil.example#localhost' },
    { host: '10.0.0.1' },
    { host: 'localhost:7070', origin: 'http://evil.example' },
    { host: 'localhost:7070', origin: 'http://localhost.evil.example' },
    { host: 'localhost:7070', origin: 'http://localhost@evil.example' },
    { host: 'localhost:7070', origin: 'null' },
    { host: 'localhost:7070', origin: '' },
    { host: 'localhost:7070', origin: 'file://localhost' },
    { host: 'localhost:7070', origin: 'http://localhost/, http://evil.example' },
    { host: 'capstan.example.com' },
  ])('refuses a web page that was rebound to it, with %j', async (headers) => {
    const { status, body } = await own(headers);
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({ code: 6004, suggestion: expect.stringContaining('CAPSTAN_ALLOWED_') });
  });

  test.each([
    [{ host: 'capstan.example.com' }, 200],
    [{ host: 'capstan.example.com', origin: 'https://capstan.example.com' }, 200],
    [{ host: 'capstan.example.com', origin: 'https://console.example.com' }, 200],
    [{ host: 'gateway:7070' }, 200],
    [{ host: 'a.internal.example' }, 200],
    [{ host: 'internal.example.evil' }, 403],
    [{ host: 'capstan.example.com', origin: 'https://console.example.com.evil' }, 403],
    [{ host: 'capstan.example.com', origin: 'https://other.example.com' }, 403],
  ])('takes what is configured and nothing else: %j is answered %i', async (headers, status) => {
    expect(await configured(headers)).toMatchObject({ status });
  });
});
