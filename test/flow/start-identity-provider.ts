import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { atEnd } from '../fixtures/at-end.js';

/** The groups of the accounts; the provider's form takes any password. */
const GROUPS: Record<string, string[]> = { ann: ['ops', 'staff'], eve: ['ops'], bob: ['staff'], robot: ['callers'] };

/** A real OpenID Connect provider on loopback. `serve` names the address that it sends browsers back to. */
export async function startIdentityProvider() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    serve: (redirect_uri: string) => {
      const provider = new Provider(issuer, {
        clients: [
          { client_id: 'capstan', client_secret: 'a-secret-of-the-tests', redirect_uris: [redirect_uri] },
          {
            client_id: 'robot',
            client_secret: 'a-secret-of-the-robot',
            redirect_uris: [],
            response_types: [],
            grant_types: ['client_credentials'],
          },
        ],
        cookies: { keys: ['a-cookie-key-of-the-tests'] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
        findAccount: (_context, id) => ({
          accountId: id,
          claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: GROUPS[id] ?? [] }),
        }),
        extraTokenClaims: (_context, token) => ({ groups: GROUPS[token.clientId ?? ''] ?? [] }),
        features: {
          clientCredentials: { enabled: true },
          resourceIndicators: {
            enabled: true,
            getResourceServerInfo: (_context, resource) => ({
              scope: '',
              audience: resource.replace('urn:', ''),
              accessTokenFormat: 'jwt',
            }),
          },
        },
      });
      server.on('request', provider.callback());
    },
    /** An access token of a machine. */
    tokenFor: async (audience: string): Promise<string> => {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('robot:a-secret-of-the-robot').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: `urn:${audience}` }),
      });
      const { access_token } = (await answer.json()) as { access_token: string };
      return access_token;
    },
  };
}
