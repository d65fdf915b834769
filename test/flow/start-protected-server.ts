import { once } from 'node:events';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Provider } from 'oidc-provider';
import { atEnd } from '../fixtures/at-end.js';
import { freePort } from '../fixtures/free-port.js';
import { serveFetch } from '../fixtures/serve-fetch.js';

/** How an authorization server without client registration fetches the metadata of a client. */
type LookUp = (client_id: URL) => Promise<Response>;

/** A real authorization server, and an MCP server that accepts its tokens and says in whose name it is called. */
export async function startProtectedServer(lookUp?: LookUp) {
  const [issuer_port, server_port] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${issuer_port}`;
  const resource = `http://127.0.0.1:${server_port}/mcp`;
  const provider = new Provider(issuer, {
    features: {
      registration: { enabled: lookUp === undefined },
      clientIdMetadataDocument: { enabled: lookUp !== undefined, ack: 'draft-02' },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          ...{ scope: 'mcp', audience: resource, accessTokenTTL: 60, accessTokenFormat: 'opaque' as const },
        }),
      },
    },
    ...(lookUp ? { fetch: (of: string | URL | Request) => lookUp(new URL(of instanceof Request ? of.url : of)) } : {}),
    cookies: { keys: ['a-cookie-key-of-the-tests'] },
    scopes: ['mcp', 'offline_access'],
    issueRefreshToken: async () => true,
    clientBasedCORS: () => true,
    pkce: { required: () => true },
  });
  /** Every token that was ever issued. */
  const given: string[] = [];
  provider.on('grant.success', ({ body }) => {
    for (const [name, value] of Object.entries(Object(body)))
      if (/_token$/.test(name) && typeof value === 'string') given.push(value);
  });
  const authorization = provider.listen(issuer_port, '127.0.0.1');
  atEnd(() => {
    authorization.closeAllConnections();
    authorization.close();
  });
  await once(authorization, 'listening');

  const handlerFor = (person: string) =>
    createMcpHandler(() => {
      const server = new McpServer({ name: 'protected', version: '1.0.0' });
      server.registerTool('whoami', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => ({
        content: [{ type: 'text', text: `in the name of ${person}` }],
      }));
      return server;
    });
  const seen: string[] = [];
  const metadata = `http://127.0.0.1:${server_port}/.well-known/oauth-protected-resource/mcp`;
  await serveFetch(async (request) => {
    if (request.url.includes('/.well-known/oauth-protected-resource'))
      return Response.json({ resource, authorization_servers: [issuer], scopes_supported: ['mcp'] });
    const token = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    const known = token === undefined ? undefined : await provider.AccessToken.find(token);
    if (token === undefined || !known) {
      const challenge = `Bearer resource_metadata="${metadata}", scope="mcp"`;
      return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } });
    }
    seen.push(token);
    return handlerFor(known.accountId).fetch(request);
  }, server_port);
  const revoke = async () => {
    for (const token of new Set(seen)) await (await provider.AccessToken.find(token))?.destroy();
  };
  /** Ends every login, as a person can at the authorization server. */
  const endLogins = async () => {
    await revoke();
    for (const token of given) await (await provider.RefreshToken.find(token))?.destroy();
  };
  return { resource, seen, given, revoke, endLogins };
}
