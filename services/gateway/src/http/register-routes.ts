import { Failure, hasRole, type Principal, type Role } from '@capstan/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { parseQuery } from './parse-query.js';
import { parseWith } from './parse-request.js';
import type { Route } from './route.js';
import { inSpanOf } from './trace-request.js';
import { withIdempotencyHeader } from './with-idempotency-header.js';

/** Where nothing is to be said, an unknown field is still an error. */
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
}

/** In a context of its own, because parsers are the context's; JSON and YAML are parsed as everywhere. */
function registerRaw(inner: FastifyInstance, gateway: GatewayContext, route: Route, bulk_limit: number): void {
  if (route.raw_body === 'stream') inner.addContentTypeParser('*', (_request, bytes, done) => done(null, bytes));
  else inner.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  registerRoute(inner, gateway, route, bulk_limit);
}

function registerRoute(app: FastifyInstance, gateway: GatewayContext, route: Route, bulk_limit: number): void {
  app.route({
    method: route.method,
    url: route.path.replace(/\{(\w+)\}/g, ':$1'),
    ...(route.body_limit === 'bulk' ? { bodyLimit: bulk_limit } : {}),
    // Before the body is read: nobody without the role makes us parse anything.
    onRequest: async (request, reply) => {
      if (route.own_pages_only) gateway.checkCaller(request);
      if (!route.roles) return;
      let principal: Principal | null = null;
      try {
        principal = await gateway.authenticator.authenticate(request);
        requireRole(principal, route.roles);
        request.principal = principal;
      } catch (failure) {
        // Without any key nobody tried to be somebody.
        if (failure instanceof Failure && request.headers.authorization !== undefined)
          gateway.refusals.note({ failure, principal, address: request.ip, path: route.path });
        throw failure;
      }
      if (route.brings_work) reply.raw.once('close', gateway.shedder.admit());
    },
    handler: (request, reply) =>
      inSpanOf(request, () =>
        route.handle(gateway, {
          principal: request.principal ?? NOBODY,
          params: paramsOf(request),
          query: parseQuery(route.query, request.query),
          body: bodyOf(route, request),
          request,
          reply,
        }),
      ),
  });
}

function requireRole(principal: Principal, roles: Role[]): void {
  if (!hasRole(principal, ...roles))
    throw new Failure('ROLE_MISSING', { detail: `This needs the role ${roles.join(' or ')}.`, context: { roles } });
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
