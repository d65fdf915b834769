import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { atEnd } from '../fixtures/at-end.js';

/** The groups of the accounts; the provider's form takes any password. */
const GROUPS: Record<string, string[]> = { ann: ['ops', 'staff'], eve: ['ops'], bob: ['staff'], robot: ['callers'] };

const CAPSTAN = { client_id: 'capstan', client_secret: 'a-secret-of-the-tests' };

/** A real OpenID Connect provider on loopback. `serve` takes the address that it redirects browsers to. */
export async function startIdentityProvider() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** The OIDC settings of a gateway that uses this provider. */
    capstan: { issuer, ...CAPSTAN },
    issuer,
    serve: (redirect_uri: string) => {
      const provider = new Provider(issuer, {
        clients: [
          { ...CAPSTAN, redirect_uris: [redirect_uri] },
          ...['robot', 'stranger'].map((client_id) => ({
            ...{ client_id, client_secret: 'a-secret-of-the-robot', redirect_uris: [], response_types: [] },
            grant_types: ['client_credentials'],
          })),
        ],
        cookies: { keys: ['a-cookie-key-of-the-tests'] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: GROUPS[id] ?? [] }),
        }),
        extraTokenClaims: (_context, token) => {
          const account = 'accountId' in token ? token.accountId : token.clientId;
          return account === 'stranger' ? undefined : { groups: GROUPS[String(account)] ?? [] };
        },
        scopes: ['openid', 'offline_access', 'tools', 'all'],
        features: {
          clientCredentials: { enabled: true },
          registration: { enabled: true },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_context, resource) => ({
              scope: 'tools all',
              audience: resource.replace('urn:', ''),
              accessTokenFormat: 'jwt',
            }),
          },
        },
      });
      server.on('request', provider.callback());
    },
    /** An access token for a machine. */
    tokenFor: async (audience: string, scope?: string, client = 'robot'): Promise<string> => {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${client}:a-secret-of-the-robot`).toString('base64')}` },
        body: new URLSearchParams({
          ...{ grant_type: 'client_credentials', resource: `urn:${audience}` },
          ...(scope === undefined ? {} : { scope }),
        }),
      });
      const { access_token } = (await answer.json()) as { access_token: string };
      return access_token;
    },
  };
}
