import { within } from '@capstan/backbone';
import { Failure, hasRole, type Principal, type Role } from '@capstan/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { protectedResource, withChallenge } from '../mcp-endpoint/protected-resource.js';
import { allowOrigin, registerPreflights } from './cross-origin.js';
import { parseQuery } from './parse-query.js';
import { parseWith } from './parse-request.js';
import type { Route } from './route.js';

/** The default for routes without a body: an unknown field is still an error. */
const NoBody = z.strictObject({});
const NOBODY: Principal = { key_id: '', tenant: '', actor: '', roles: [] };

export function registerRoutes(
  app: FastifyInstance,
  gateway: GatewayContext,
  routes: Route[],
  bulk_limit: number,
): void {
  for (const route of routes) {
    if (route.raw_body) app.register(async (inner) => registerRaw(inner, gateway, route, bulk_limit));
    else registerRoute(app, gateway, route, bulk_limit);
  }
  registerPreflights(app, gateway, routes);
}

/** In its own context, because Fastify's content type parsers belong to a context. */
function registerRaw(inner: FastifyInstance, gateway: GatewayContext, route: Route, bulk_limit: number): void {
  if (route.raw_body === 'stream') {
    // A file is stored byte for byte under its hash, so not even JSON may be parsed.
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('*', (_request, bytes, done) => done(null, bytes));
  } else inner.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  registerRoute(inner, gateway, route, bulk_limit);
}

function registerRoute(app: FastifyInstance, gateway: GatewayContext, route: Route, bulk_limit: number): void {
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    ...(route.body_limit === 'bulk' ? { bodyLimit: bulk_limit } : {}),
    // Before the body is read, so that nothing is parsed for callers without the role.
    onRequest: async (request, reply) => {
      if (route.own_pages_only) {
        gateway.checkCaller(request);
        allowOrigin(request, reply);
      }
      if (!route.roles) return;
      const resource = route.is_protected_resource ? protectedResource(gateway, request) : null;
      let principal: Principal | null = null;
      try {
        principal = await gateway.authenticator.authenticate(request, resource?.audiences);
        requireRole(gateway, principal, route.roles);
        request.principal = principal;
      } catch (failure) {
        // A request without a key is not a failed login.
        if (failure instanceof Failure && request.headers.authorization !== undefined)
          gateway.refusals.note({ failure, principal, address: request.ip, path: route.path });
        throw resource ? withChallenge(failure, resource) : failure;
      }
      if (route.brings_work) reply.raw.once('close', gateway.shedder.admit());
    },
    handler: (request, reply) => {
      const handle = () =>
        route.handle(gateway, {
          principal: request.principal ?? NOBODY,
          params: paramsOf(request),
          query: parseQuery(route.query, request.query),
          body: bodyOf(route, request),
          request,
          reply,
        });
      return request.span ? within(request.span, handle) : handle();
    },
  });
}

function requireRole({ oidc }: GatewayContext, principal: Principal, roles: Role[]): void {
  if (hasRole(principal, ...roles)) return;
  const scopes = hasRole({ ...principal, roles: principal.out_of_scope ?? [] }, ...roles) ? oidc?.scopesFor(roles) : [];
  const detail = `This needs the role ${roles.join(' or ')}.`;
  if (!scopes?.length) throw new Failure('ROLE_MISSING', { detail, context: { roles } });
  const wanted = scopes.join(' ');
  throw new Failure('ROLE_MISSING', {
    detail: `${detail} The scope of this token does not give it.`,
    suggestion: `Get a token with one of these scopes: ${wanted}.`,
    context: { roles },
    headers: { 'www-authenticate': `Bearer realm="capstan", error="insufficient_scope", scope="${wanted}"` },
  });
}

function bodyOf(route: Route, { body, headers }: FastifyRequest): unknown {
  if (route.raw_body) return undefined;
  const sent = body ?? {};
  const whole = route.idempotency_header ? withIdempotencyHeader(sent, headers['idempotency-key']) : sent;
  return parseWith(route.body ?? NoBody, whole, 'body');
}

const paramsOf = (request: FastifyRequest) => request.params as Record<string, string>;

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
  }
}

/** Node reads header bytes as Latin-1, so other characters would give a different key than the same text in a body. */
const PRINTABLE = /^[\x20-\x7e]+$/;

/** Moves the header `Idempotency-Key` to the field `idempotency_key` of the body. A body that is not an object is refused later, by its schema. */
function withIdempotencyHeader(body: unknown, header: string | string[] | undefined): unknown {
  if (header === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const idempotency_key = String(header);
  if (!PRINTABLE.test(idempotency_key))
    throw new Failure('INVALID_REQUEST', {
      detail: 'Idempotency-Key: must be printable ASCII, and not empty',
      suggestion: 'Send a UUID, or send the key as idempotency_key in the body.',
    });
  if ('idempotency_key' in body && body.idempotency_key !== idempotency_key)
    throw new Failure('INVALID_REQUEST', {
      detail: 'Idempotency-Key: differs from idempotency_key in the body',
      suggestion: 'Send the key once, in the header or in the body.',
      context: { errors: [{ field: 'idempotency_key', message: 'differs from the header Idempotency-Key' }] },
    });
  return { ...body, idempotency_key };
}
