import { once } from 'node:events';
import { request } from 'node:http';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { openBrowser } from './open-browser.js';
import { startIdentityProvider } from './start-identity-provider.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const METADATA = '/.well-known/oauth-protected-resource';
const HOME = 'http://127.0.0.1:9';
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
          scopes: 'openid',
          roles: [
            { group: 'ops', role: 'submit' },
            { group: 'callers', role: 'submit' },
          ],
          scope_roles: [
            { scope: 'tools', role: 'submit' },
            { scope: 'all', role: 'admin' },
          ],
          actor_claim: 'email',
        },
      },
    },
  );
  provider.serve(`${system.url}/v1/login/oidc/callback`);
  await system.admin.policies.put('default', ALLOW_ALL);
  await system.admin.toolsets.put({ name: 'sums', tools: ['cap:test_math:add'] });
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const post = (path: string, token?: string) =>
  fetch(`${system.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(LIST),
  });

/** The OAuth state that a person's client keeps. */
class Person implements OAuthClientProvider {
  readonly redirectUrl = `${HOME}/callback`;
  readonly clientMetadata = {
    client_name: 'A client of the tests',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
  };
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = '';
  asked: URL | undefined;
  clientInformation = () => this.#client;
  tokens = () => this.#tokens;
  codeVerifier = () => this.#verifier;
  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }
  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }
}

describe('The MCP endpoint behind an authorization server', () => {
  test.each(['/mcp', '/mcp/sums'])('says at %s where to get a token if there is none, and its scope', async (path) => {
    const refused = await post(path);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer realm="capstan", resource_metadata="${system.url}${METADATA}${path}", scope="tools"`,
    ]);
    expect(await (await fetch(`${system.url}${METADATA}${path}`)).json()).toEqual({
      resource: `${system.url}${path}`,
      resource_name: 'Capstan',
      authorization_servers: [provider.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['tools'],
    });
  });

  test('also serves metadata at the root, for the gateway as a whole', async () => {
    expect(await (await fetch(`${system.url}${METADATA}`)).json()).toMatchObject({ resource: system.url });
  });

  test('accepts a token only under the address that it was issued for', async () => {
    const forAll = await provider.tokenFor(`${system.url}/mcp`, 'tools');
    expect((await post('/mcp', forAll)).status).toBe(200);
    expect((await post('/mcp/sums', forAll)).status).toBe(200);
    const elsewhere = await fetch(`${system.url}/v1/whoami`, { headers: { authorization: `Bearer ${forAll}` } });
    expect([elsewhere.status, elsewhere.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="capstan"']);
    const forSome = await provider.tokenFor(`${system.url}/mcp/sums`, 'tools');
    expect((await post('/mcp/sums', forSome)).status).toBe(200);
    expect((await post('/mcp', forSome)).status).toBe(401);
  });

  test('refuses a token for another server, even if the request names that server as its Host', async () => {
    const token = await provider.tokenFor('http://127.0.0.1:9/mcp', 'tools');
    const refused = await post('/mcp', token);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/error="invalid_token", resource_metadata="http/),
    ]);
    expect(await statusWithHost('127.0.0.1:9', token)).toBe(401);
  });

  test('answers 403 with the scope that is missing', async () => {
    const refused = await post('/mcp', await provider.tokenFor(`${system.url}/mcp`));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer realm="capstan", error="insufficient_scope", scope="tools", resource_metadata="${system.url}${METADATA}/mcp"`,
    ]);
    expect(await refused.json()).toMatchObject({ code: 6002, roles: ['submit'] });
  });

  test('gives a token no role that the groups of its account do not have', async () => {
    // The scope alone would make it an admin.
    const robot = await post('/mcp', await provider.tokenFor(`${system.url}/mcp`, 'all'));
    expect([robot.status, robot.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('insufficient_scope'),
    ]);
    // The roles of a token without groups depend on its scope alone.
    const stranger = await provider.tokenFor(`${system.url}/mcp`, 'all', 'stranger');
    expect((await post('/mcp', stranger)).status).toBe(200);
  });

  test('lets a person log in with a self-registered client and a browser, and calls tools in their name', async () => {
    const person = new Person();
    const url = new URL('/mcp/sums', system.url);
    const transport = () => new StreamableHTTPClientTransport(url, { authProvider: person });
    const first = transport();
    await expect(new Client({ name: 'first', version: '1.0.0' }).connect(first)).rejects.toThrow(UnauthorizedError);
    expect(person.asked?.searchParams.get('resource')).toBe(url.href);
    const back = await openBrowser().logIn(person.asked ?? HOME, 'ann', HOME);
    await first.finishAuth(back.searchParams);
    const client = new Client({ name: 'second', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(transport());
    atEnd(() => client.close());
    const result = await client.callTool({ name: 'cap_test_math_add', arguments: { a: 2, b: 3 } });
    expect(result).toMatchObject({ structuredContent: { result: 5 } });
    const call = await system.admin.get(String(result._meta?.['capstan/invocation_id']));
    expect(call).toMatchObject({ actor: 'ann', status: 'succeeded' });
  });
});

/** `fetch` does not allow a Host header. */
async function statusWithHost(host: string, token: string): Promise<number | undefined> {
  const headers = { host, authorization: `Bearer ${token}` };
  const asked = request(`${system.url}/mcp`, { method: 'POST', headers });
  asked.end();
  const [answer] = await once(asked, 'response');
  answer.resume();
  return answer.statusCode;
}
