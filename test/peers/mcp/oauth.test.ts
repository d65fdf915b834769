import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { Provider } from 'oidc-provider';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../../fixtures/at-end.js';
import { freePort } from '../../fixtures/free-port.js';
import { ALLOW_ALL, type System, startSystem } from '../../flow/start-system.js';

/** A real authorization server, and an MCP server that takes its tokens. */
async function startProtected() {
  const [issuer_port, server_port] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${issuer_port}`;
  const resource = `http://127.0.0.1:${server_port}/mcp`;
  const provider = new Provider(issuer, {
    features: {
      registration: { enabled: true },
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
    scopes: ['mcp', 'offline_access'],
    issueRefreshToken: async () => true,
    clientBasedCORS: () => true,
    pkce: { required: () => true },
  });
  const authorization = provider.listen(issuer_port, '127.0.0.1');
  atEnd(() => authorization.close());
  await once(authorization, 'listening');

  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'protected', version: '1.0.0' });
    server.registerTool('whoami', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => ({
      content: [{ type: 'text', text: 'let in' }],
    }));
    return server;
  });
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const metadata = `http://127.0.0.1:${server_port}/.well-known/oauth-protected-resource/mcp`;
    if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported: ['mcp'] }));
      return;
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const known = token === undefined ? undefined : await provider.AccessToken.find(token);
    if (token === undefined || !known) {
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="mcp"` }).end();
      return;
    }
    seen.push(token);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    const answer = await handler.fetch(new Request(resource, { method: request.method ?? 'GET', headers, body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    // Its news have no end.
    if (answer.body) Readable.fromWeb(answer.body).pipe(response);
    else response.end();
  });
  server.listen(server_port, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const revoke = async () => {
    for (const token of new Set(seen)) await (await provider.AccessToken.find(token))?.destroy();
  };
  return { resource, seen, revoke };
}

/** Follows a login as a browser does: cookies, redirects, and the forms of the development pages. */
async function browse(start: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20; step++) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      method: form ? 'POST' : 'GET',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { body: form } : {}),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const to = response.headers.get('location');
    const page = to === null ? await response.text() : '';
    const action = /<form[^>]+action="([^"]+)"/.exec(page)?.[1];
    if (to === null && action === undefined) return page;
    url = new URL(to ?? action ?? '', url).href;
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    form = to === null ? new URLSearchParams({ prompt: prompt ?? '', login: 'ada', password: 'any' }) : null;
  }
  throw new Error('the login does not end');
}

describe('An MCP server behind OAuth', () => {
  let system: System;
  let upstream: Awaited<ReturnType<typeof startProtected>>;
  beforeAll(async () => {
    upstream = await startProtected();
    system = await startSystem({ name: 'postgres' });
    await system.admin.policies.put('default', ALLOW_ALL);
  });
  const call = () => system.admin.submit({ tool_id: 'mcp:protected:whoami', inputs: {} }, { wait_s: 30 });

  test('is logged in to with a browser, and called with tokens that are refreshed and sealed', async () => {
    const added = await system.admin.mcpServers.add({ name: 'protected', url: upstream.resource });
    expect(added).toMatchObject({ status: 'failing', last_error: expect.stringContaining('capstan mcp login') });
    const { authorization_url } = await system.admin.mcpServers.login('protected');
    expect(authorization_url).toContain('code_challenge_method=S256');
    expect(await browse(authorization_url ?? '')).toContain('You are logged in');
    expect(await system.admin.mcpServers.get('protected')).toMatchObject({
      ...{ last_error: null, status: 'ready', tools: 1 },
    });
    expect(await call()).toMatchObject({ status: 'succeeded' });

    // As when it has expired: what follows is called with another.
    await upstream.revoke();
    const before = new Set(upstream.seen);
    expect(await call()).toMatchObject({ status: 'succeeded' });
    expect(upstream.seen.filter((token) => !before.has(token)).length).toBeGreaterThan(0);

    const { rows } = await system.store.db
      .selectFrom('mcp_credentials')
      .selectAll()
      .execute()
      .then((found) => ({ rows: found }));
    for (const token of upstream.seen)
      expect(Buffer.concat(rows.map(({ sealed }) => sealed)).includes(Buffer.from(token))).toBe(false);
  });
});
