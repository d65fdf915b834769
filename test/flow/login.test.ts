import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ActiveLogin, Whoami } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '../fixtures/eventually.js';
import { tempDir } from '../fixtures/temp-dir.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

let system: System;
beforeAll(async () => {
  const console_dir = await tempDir();
  await mkdir(join(console_dir, 'assets'));
  await writeFile(join(console_dir, 'index.html'), '<!doctype html><title>Console</title>');
  await writeFile(join(console_dir, 'assets', 'app-1a2b.js'), 'let a = 1;'.repeat(50));
  await writeFile(join(console_dir, 'assets', 'app-1a2b.js.gz'), gzipSync('let a = 1;'.repeat(50)));
  system = await startSystem({ name: 'postgres' }, { gateway: { console_dir } });
});

type Sent = {
  method?: string;
  cookie?: string;
  origin?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};

const send = (path: string, { method = 'GET', cookie, origin, body, headers = {} }: Sent = {}) =>
  fetch(`${system.url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(cookie === undefined ? {} : { cookie }),
      ...(origin === null ? {} : { origin: origin ?? system.url }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const logIn = async (key: string) => {
  const answer = await send('/v1/login', { method: 'POST', body: { key } });
  expect(answer.status).toBe(204);
  const [cookie = ''] = answer.headers.getSetCookie();
  return { set: cookie, cookie: cookie.split(';')[0] ?? '' };
};

const codeOf = async (answer: Response) => z.object({ code: z.int() }).parse(await answer.json()).code;

const newKey = (actor: string) => system.admin.keys.create({ tenant: 'default', actor, roles: ['operate'] });

describe('a login with a key', () => {
  test('sets a cookie that scripts cannot read and other sites cannot send', async () => {
    const { set } = await logIn(ADMIN_KEY);
    expect(set).toMatch(/^capstan_session=ses_[\w-]{32}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const overTls = await send('/v1/login', {
      method: 'POST',
      body: { key: ADMIN_KEY },
      headers: { 'x-forwarded-proto': 'https' },
    });
    expect(overTls.headers.getSetCookie()[0]).toContain('; Secure');
  });

  test('has the actor and the roles of the key until it expires', async () => {
    const { key } = await newKey('ann');
    const { cookie } = await logIn(key);
    const me = Whoami.parse(await (await send('/v1/whoami', { cookie })).json());
    expect(me).toEqual({
      tenant: 'default',
      actor: 'ann',
      roles: ['operate'],
      via: 'session',
      expires_at: expect.stringMatching(/^20.*Z$/),
    });
    expect(await system.clientFor(key).whoami()).toEqual({ ...me, via: 'key', expires_at: null });
    expect((await send('/v1/keys', { cookie })).status).toBe(403);
    await sql`UPDATE logins SET expires_at = now() WHERE key_id = (SELECT key_id FROM keys WHERE actor = 'ann')`.execute(
      system.store.db,
    );
    const other = await startGatewayView(cookie);
    expect(other).toMatchObject({ status: 401, code: 6001, suggestion: 'Log in again.' });
  });

  test('is refused with an unknown key, and the refusal is in the audit log', async () => {
    const answer = await send('/v1/login', { method: 'POST', body: { key: 'cap_nobody-has-this-one' } });
    expect(answer.status).toBe(401);
    expect(answer.headers.getSetCookie()).toEqual([]);
    // It is written in the background, possibly after the answer.
    await eventually(async () => {
      const { items } = await system.admin.audit.list({ event: 'login.refused' }).page();
      expect(items[0]?.detail).toMatchObject({ path: '/v1/login' });
    });
  });

  test('ends at logout, which also clears the cookie', async () => {
    const { cookie } = await logIn(ADMIN_KEY);
    const out = await send('/v1/logout', { method: 'POST', cookie });
    expect([out.status, out.headers.getSetCookie()[0]]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await send('/v1/whoami', { cookie })).status).toBe(401);
  });

  test('is listed to its owner and to admins, and either of them can end it', async () => {
    const { key } = await newKey('dora');
    const [one, other] = [await logIn(key), await logIn(key)];
    const ofDora = z.object({ items: z.array(ActiveLogin) });
    const { items } = ofDora.parse(await (await send('/v1/logins', { cookie: one.cookie })).json());
    expect(items).toMatchObject([
      { actor: 'dora', roles: ['operate'], identity: null, current: false },
      { actor: 'dora', current: true },
    ]);
    expect(JSON.stringify(items)).not.toContain('ses_');
    const [newer] = items;
    const stranger = await logIn((await newKey('emil')).key);
    const end = (cookie: string) => send(`/v1/logins/${newer?.login_id}`, { method: 'DELETE', cookie });
    expect((await end(stranger.cookie)).status).toBe(404);
    expect((await end(one.cookie)).status).toBe(204);
    expect((await send('/v1/whoami', { cookie: other.cookie })).status).toBe(401);
    const mine = (await system.admin.logins.list().page()).items.find(({ actor }) => actor === 'dora');
    await system.admin.logins.end(mine?.login_id ?? '');
    expect((await send('/v1/whoami', { cookie: one.cookie })).status).toBe(401);
  });

  test('ends when its key is deleted', async () => {
    const { key, key_id } = await newKey('bob');
    const { cookie } = await logIn(key);
    expect((await send('/v1/whoami', { cookie })).status).toBe(200);
    await system.admin.keys.delete(key_id);
    expect((await send('/v1/whoami', { cookie })).status).toBe(401);
  });
});

/** How a gateway answers that has not cached the cookie. */
async function startGatewayView(cookie: string) {
  // Deleting a key empties the cache of every gateway.
  await system.admin.keys.delete((await newKey('passing')).key_id);
  return (await send('/v1/whoami', { cookie })).json();
}

describe('a request with the cookie of a login', () => {
  test.each([
    ['of another site', 'https://evil.example'],
    ['of another port of this machine', 'http://127.0.0.1:9'],
    ['without an origin', 'null'],
    ['that does not say where it is from', null],
  ])('that changes something is refused if it comes from a page %s', async (_page, origin) => {
    const { cookie } = await logIn(ADMIN_KEY);
    const answer = await send('/v1/queues/exec/pause', { method: 'POST', cookie, origin });
    expect([answer.status, await codeOf(answer)]).toEqual([403, 6004]);
  });

  test('that changes something is accepted if it comes from a page of the gateway itself', async () => {
    const { cookie } = await logIn(ADMIN_KEY);
    expect((await send('/v1/queues/exec/resume', { method: 'POST', cookie })).status).toBe(200);
    const fetched = { method: 'POST', cookie, origin: null, headers: { 'sec-fetch-site': 'same-origin' } };
    expect((await send('/v1/queues/exec/resume', fetched)).status).toBe(200);
  });

  test('that also has a key uses the key', async () => {
    const { cookie } = await logIn(ADMIN_KEY);
    const { key } = await newKey('carol');
    const me = await (await send('/v1/whoami', { cookie, headers: { authorization: `Bearer ${key}` } })).json();
    expect(me).toMatchObject({ actor: 'carol', via: 'key' });
  });
});

describe('the console', () => {
  const html = { accept: 'text/html,*/*' };

  test.each(['/', '/holds/hld_abc', '/runs?status=failed'])('is served at %s', async (path) => {
    const page = await send(path, { headers: html });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>Console')]);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const csp = page.headers.get('content-security-policy') ?? '';
    expect(csp).toContain("default-src 'self'");
    expect(csp).toContain("frame-ancestors 'none'");
    expect(csp).toMatch(/script-src 'self';/);
  });

  test('sends its assets compressed and cacheable for ever', async () => {
    const asset = await send('/assets/app-1a2b.js', { headers: { 'accept-encoding': 'gzip' } });
    expect(asset.headers.get('content-encoding')).toBe('gzip');
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect(asset.headers.get('content-type')).toContain('javascript');
    expect(await asset.text()).toContain('let a = 1;');
  });

  test.each(['/v1/nothing', '/assets/gone.js', '/mcp/a/b'])('is not served at %s', async (path) => {
    const answer = await send(path, { headers: html });
    expect([answer.status, await codeOf(answer)]).toEqual([404, 3008]);
  });

  test('is not served at an unknown path to a client that asks for JSON', async () => {
    expect((await send('/holds', { headers: { accept: 'application/json' } })).status).toBe(404);
  });
});

test('a gateway without a console says so at /', async () => {
  const { url } = await startSystem({ name: 'postgres' }, { gateway: { console_dir: null } });
  const answer = await fetch(url);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('console is not built')]);
});
