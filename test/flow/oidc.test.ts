import { holdIdOf, Whoami } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from './open-browser.js';
import { startIdentityProvider } from './start-identity-provider.js';
import { type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
let system: System;
let provider: Awaited<ReturnType<typeof startIdentityProvider>>;

beforeAll(async () => {
  provider = await startIdentityProvider();
  system = await startSystem(
    { name: 'postgres' },
    {
      gateway: {
        console_dir: null,
        oidc: {
          ...provider.capstan,
          scopes: 'openid email groups',
          roles: [
            { group: 'ops', role: 'operate' },
            { group: 'ops', role: 'submit' },
            { group: 'callers', role: 'submit' },
          ],
          actor_claim: 'email',
          audience: 'capstan',
        },
      },
    },
  );
  provider.serve(`${system.url}/v1/login/oidc/callback`);
});

/** A browser that logs in to this gateway. */
function openConsole() {
  const { send, logIn: follow } = openBrowser();
  /** The address that the provider sends the browser back to. */
  const logInAtProvider = (login: string, next = '/holds'): Promise<URL> =>
    follow(new URL(`/v1/login/oidc?next=${encodeURIComponent(next)}`, system.url), login, system.url);
  const whoami = () => send(`${system.url}/v1/whoami`);
  return { send, logInAtProvider, whoami };
}

const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { origin: system.url, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const logIn = async (login: string) => {
  const browser = openConsole();
  const answer = await browser.send(await browser.logInAtProvider(login));
  return { ...browser, answer };
};

describe('a login with the identity provider', () => {
  test('is offered by the login options', async () => {
    const options = await (await fetch(`${system.url}/v1/login/options`)).json();
    expect(options).toEqual({ key: true, oidc: { name: '127.0.0.1' } });
  });

  test('returns to the page asked for, with the roles of the groups', async () => {
    const { answer, whoami } = await logIn('ann');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/holds']);
    expect(answer.headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^capstan_session=ses_[\w-]{32}; .*HttpOnly; SameSite=Strict$/),
    );
    expect(Whoami.parse(await (await whoami()).json())).toMatchObject({
      tenant: 'default',
      actor: 'ann@example.com',
      roles: ['operate', 'submit'],
      via: 'session',
    });
  });

  test('uses PKCE, and keeps state, nonce and verifier in a cookie that scripts cannot read', async () => {
    const answer = await openConsole().send(`${system.url}/v1/login/oidc`);
    const { searchParams } = new URL(answer.headers.get('location') ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      state: expect.any(String),
      nonce: expect.any(String),
    });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^capstan_oidc=.*; Max-Age=600; Path=\/v1\/login\/oidc; HttpOnly; SameSite=Lax$/),
    ]);
  });

  test.each(['https://evil.example/', '//evil.example', '/\\evil.example'])('never redirects to %s', async (next) => {
    const browser = openConsole();
    const answer = await browser.send(await browser.logInAtProvider('ann', next));
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/']);
  });

  test('is refused if the state does not match', async () => {
    const browser = openConsole();
    const back = await browser.logInAtProvider('ann');
    back.searchParams.set('state', 'of-somebody-else');
    const answer = await browser.send(back);
    expect([answer.status, (await browser.whoami()).status]).toEqual([401, 401]);
  });

  test('is refused in a browser that did not start it', async () => {
    const back = await openConsole().logInAtProvider('ann');
    const victim = openConsole();
    expect((await victim.send(back)).status).toBe(401);
    expect((await victim.whoami()).status).toBe(401);
  });

  test('of an account without a group that has a role is answered with 403, and a browser is shown why', async () => {
    const { answer, whoami } = await logIn('bob');
    expect([answer.status, await answer.json()]).toEqual([
      403,
      expect.objectContaining({ code: 6002, detail: 'No group of the account bob has a role here.' }),
    ]);
    expect((await whoami()).status).toBe(401);
    const browser = openConsole();
    const page = await browser.send(await browser.logInAtProvider('bob'), { headers: { accept: 'text/html' } });
    expect(page.status).toBe(302);
    expect(page.headers.get('location')).toMatch(/^\/login\?error=No%20group/);
  });

  test('ends at logout', async () => {
    const { send, whoami } = await logIn('ann');
    const session = { method: 'POST', headers: { origin: system.url } };
    expect((await send(`${system.url}/v1/logout`, session)).status).toBe(204);
    expect((await whoami()).status).toBe(401);
  });

  test('votes under the account at the provider, which is stored with the vote', async () => {
    const rules = [{ id: 'sums', effect: 'hold', match: { tool: ADD } }] as const;
    await system.admin.policies.put('default', { version: '1.0', boundary: 'deny_by_default', rules });
    const { invocation_id } = await system.admin.submit({ tool_id: ADD, inputs: { a: 1, b: 2 } });
    const { send } = await logIn('ann');
    const hold = `${system.url}/v1/holds/${holdIdOf(invocation_id)}`;
    expect((await send(`${hold}/release`, post({}))).status).toBe(200);
    const { rows } = await sql`SELECT actor, iss, sub FROM hold_entries WHERE sub IS NOT NULL`.execute(system.store.db);
    expect(rows).toEqual([{ actor: 'ann@example.com', iss: provider.issuer, sub: 'ann' }]);
  });

  test('is refused under a name that belongs to another account', async () => {
    await sql`INSERT INTO identities (tenant, actor, iss, sub)
      VALUES ('default', 'eve@example.com', ${provider.issuer}, 'who-had-it-before')`.execute(system.store.db);
    const { answer } = await logIn('eve');
    expect([answer.status, await answer.json()]).toEqual([
      401,
      expect.objectContaining({ detail: expect.stringContaining('belongs to another account') }),
    ]);
  });

  test('may not create a schedule, which needs a key to run with', async () => {
    const { send } = await logIn('ann');
    const schedule = { tool_id: ADD, inputs: { a: 1, b: 2 }, every_ms: 3_600_000 };
    const answer = await send(`${system.url}/v1/schedules`, post(schedule));
    expect([answer.status, await answer.json()]).toEqual([403, expect.objectContaining({ code: 6004 })]);
  });
});

describe('a token of the identity provider', () => {
  test('for the audience is accepted as a bearer', async () => {
    const me = await system.clientFor(await provider.tokenFor('capstan')).whoami();
    expect(me).toMatchObject({ actor: 'robot', roles: ['submit'], via: 'jwt', expires_at: expect.any(String) });
  });

  test('for another audience is refused', async () => {
    const other = system.clientFor(await provider.tokenFor('other'));
    await expect(other.whoami()).rejects.toMatchObject({ code: 6001, message: expect.stringContaining('"aud"') });
  });

  test('that was changed is refused', async () => {
    const [head, body = '', signature] = (await provider.tokenFor('capstan')).split('.');
    const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), groups: ['ops'] };
    const forged = [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
    await expect(system.clientFor(forged).whoami()).rejects.toMatchObject({ code: 6001 });
  });
});
