import { createHash, randomBytes } from 'node:crypto';
import { mayBePrivate } from '@capstan/catalog';
import { Failure, McpLoginAnswer, McpLoginRequest, type NewMcpServer, type Principal } from '@capstan/contracts';
import { clientMetadata, type McpCredentials, McpOAuth, oauthFetch, readCredentials } from '@capstan/execution';
import { appendAudit } from '@capstan/store/audit';
import {
  type CredentialPlace,
  deleteMcpCredentials,
  getMcpServer,
  openMcpLogin,
  putMcpCredentials,
  readMcpCredentials,
  SHARED_OWNER,
  takeMcpLogin,
} from '@capstan/store/mcp-server';
import { openSecret } from '@capstan/store/secret';
import { auth } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { baseUrl } from '../http/base-url.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

const CALLBACK = '/v1/mcp-logins/callback';
/** The URL of this document is the OAuth client id of the installation. */
const CLIENT = '/client-metadata.json';

type Flow = { config: NewMcpServer; base: string; state: string; credentials: McpCredentials };

/** One step of the OAuth flow. Returns the new credentials, and where to redirect the browser, if anywhere. */
async function step(gateway: GatewayContext, tenant: string, flow: Flow, answer?: { code: string; iss?: string }) {
  const { config, base, state } = flow;
  const { url, oauth } = config;
  if (url === undefined)
    throw new Failure('ILLEGAL_STATE', { detail: `${config.name} is a program: there is nothing to log in to.` });
  let { credentials } = flow;
  let redirect: URL | null = null;
  const secret = oauth?.client_secret?.replace(/^secret:\/\//, '');
  const opened = secret ? await openSecret(gateway.store.db, gateway.secret_keys, { tenant, name: secret }) : undefined;
  const provider = new McpOAuth({
    ...{ config, state, redirect_url: `${base}${CALLBACK}`, client_metadata_url: `${base}${CLIENT}` },
    client_secret: opened?.value,
    load: async () => credentials,
    change: async (alter) => {
      credentials = alter(credentials);
    },
    onRedirect: (to) => {
      redirect = to;
    },
  });
  const fetchFn = oauthFetch(gateway.egress, mayBePrivate(config));
  const { scope: challenged, resource_metadata_url } = credentials.challenge ?? {};
  const scope = oauth?.scope ?? challenged;
  const outcome = await auth(provider, {
    ...{ serverUrl: url, fetchFn },
    ...(answer ? { authorizationCode: answer.code, ...(answer.iss ? { iss: answer.iss } : {}) } : {}),
    ...(scope === undefined ? {} : { scope }),
    ...(resource_metadata_url ? { resourceMetadataUrl: new URL(resource_metadata_url) } : {}),
  }).catch((error: unknown) => {
    throw new Failure('EGRESS_FAILED', {
      detail: `The login at ${config.name} failed: ${error instanceof Error ? error.message : String(error)}`,
      retryable: false,
      suggestion: 'Check that the server supports OAuth 2.1, or configure a token as a header.',
    });
  });
  // TypeScript does not see that `onRedirect` assigns it.
  return { outcome, credentials, redirect: redirect as URL | null };
}

async function begin(
  gateway: GatewayContext,
  principal: Principal,
  config: NewMcpServer,
  owner: string,
  base: string,
): Promise<McpLoginAnswer> {
  const { db } = gateway.store;
  const place: CredentialPlace = { server: config.name, tenant: principal.tenant, owner };
  const read = async (from: string): Promise<McpCredentials> =>
    readCredentials(await readMcpCredentials(db, gateway.secret_keys, { ...place, owner: from }));
  // Discovery starts afresh, because the server may use another authorization server by now. Its challenge may be stored with the
  // shared credentials.
  const { tokens, verifier, discovery, ...own } = await read(owner);
  const { challenge } = owner === SHARED_OWNER ? own : await read(SHARED_OWNER);
  const kept = { ...(challenge ? { challenge } : {}), ...own };
  const state = randomBytes(32).toString('base64url');
  const { outcome, credentials, redirect } = await step(gateway, principal.tenant, {
    ...{ config, base, state, credentials: kept },
  });
  const value = JSON.stringify(credentials);
  if (outcome === 'AUTHORIZED') {
    await putMcpCredentials(db, gateway.secret_keys, place, value);
    return { authorized: true, authorization_url: null };
  }
  if (!redirect) throw new Failure('INTERNAL', { detail: 'The login has no redirect URL.' });
  await openMcpLogin(db, gateway.secret_keys, hashed(state), { ...place, actor: principal.actor, value });
  return { authorized: false, authorization_url: redirect.href };
}

/** Stored as a hash, so that reading the table does not reveal a state that a browser could come back with. */
const hashed = (state: string): string => createHash('sha256').update(state).digest('base64url');

async function complete(gateway: GatewayContext, query: CallbackQuery, base: string): Promise<string> {
  const { store, secret_keys } = gateway;
  const login = query.state ? await takeMcpLogin(store.db, secret_keys, hashed(query.state)) : null;
  const row = login && (await getMcpServer(store.db, login.server));
  if (!login || !row || query.code === undefined)
    throw new Failure('NOT_FOUND', {
      detail: query.error ? `The login was refused: ${query.error}.` : 'There is no such login, or it has expired.',
      suggestion: 'Start again with capstan mcp login <name>.',
    });
  const { server, tenant, owner, actor, value } = login;
  const { credentials } = await step(
    gateway,
    tenant,
    { config: row.config, base, state: query.state ?? '', credentials: readCredentials(value) },
    { code: query.code, ...(query.iss ? { iss: query.iss } : {}) },
  );
  const { verifier, ...kept } = credentials;
  await putMcpCredentials(store.db, secret_keys, { server, tenant, owner }, JSON.stringify(kept));
  await appendAudit(store.db, [{ tenant, actor, event: 'mcp_server.login', subject: server, detail: { owner } }]);
  return server;
}

const CallbackQuery = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  iss: z.string().optional(),
  error: z.string().optional(),
  error_description: z.string().optional(),
  session_state: z.string().optional(),
  scope: z.string().optional(),
});
type CallbackQuery = z.infer<typeof CallbackQuery>;

const ownerOf = ({ per }: McpLoginRequest, { actor }: Principal): string => (per === 'actor' ? actor : SHARED_OWNER);

export const mcpLoginRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/mcp-servers/{name}/login',
    summary: 'Start a login at an MCP server; returns the URL to open in a browser',
    roles: ['submit', 'admin'],
    body: McpLoginRequest.default({ per: 'tenant' }),
    answers: { 200: { description: 'The URL to open in a browser', schema: McpLoginAnswer } },
    handle: async (gateway, { principal, params, body, request }) => {
      const row = await getMcpServer(gateway.store.db, params.name ?? '');
      if (!row) throw notFound(`MCP server ${params.name}`);
      if (body.per !== 'actor' && !principal.roles.includes('admin'))
        throw new Failure('ROLE_MISSING', {
          detail: 'A login for the whole tenant needs the role admin.',
          suggestion: 'Log in for yourself with per: actor.',
        });
      return begin(gateway, principal, row.config, ownerOf(body, principal), baseUrl(gateway, request));
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/mcp-servers/{name}/login',
    summary: "Delete a login at an MCP server: the caller's own and, for an admin, that of the tenant",
    roles: ['submit', 'admin'],
    answers: { 204: { description: 'Deleted' } },
    handle: async ({ store }, { principal, params, reply }) => {
      const owners = [principal.actor, ...(principal.roles.includes('admin') ? [SHARED_OWNER] : [])];
      for (const owner of owners)
        await deleteMcpCredentials(store, principal, { server: params.name ?? '', tenant: principal.tenant, owner });
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: CALLBACK,
    summary: 'OAuth callback for the login at an MCP server',
    query: CallbackQuery,
    answers: { 200: { description: 'A page that confirms the login', media_type: 'text/html' } },
    handle: async (gateway, { query, request, reply }) => {
      const server = await complete(gateway, query, baseUrl(gateway, request));
      await gateway.mcp_discovery.now(gateway, server);
      reply.headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'",
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      });
      return reply.send('<!doctype html><title>Capstan</title><p>You are logged in. You can close this page.</p>');
    },
  }),
  route({
    method: 'GET',
    path: CLIENT,
    summary: 'Get the OAuth client ID metadata document of this installation',
    answers: { 200: { description: 'OAuth client metadata' } },
    handle: (gateway, { request }) => {
      const base = baseUrl(gateway, request);
      return { client_id: `${base}${CLIENT}`, ...clientMetadata(`${base}${CALLBACK}`) };
    },
  }),
];
