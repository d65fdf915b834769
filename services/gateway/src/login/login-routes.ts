import {
  ActiveLogin,
  DEFAULT_TENANT,
  Failure,
  hasRole,
  Login,
  LoginOptions,
  type Principal,
  pageOf,
  Role,
  Whoami,
} from '@capstan/contracts';
import { createLogin, endLogin, type LoginScope, listLogins, revokeLogin } from '@capstan/store/login';
import type { FastifyRequest } from 'fastify';
import { sessionOf } from '../auth/authenticator.js';
import type { GatewayContext } from '../gateway-context.js';
import { AllQuery, pageOfAll } from '../http/page-of-all.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { setSessionCookie } from './session-cookie.js';

const ANYBODY = [...Role.options];

/** Everybody manages their own logins; an admin manages those of the tenant, and an admin of the default tenant all of them. */
const scopeOf = (principal: Principal): LoginScope => {
  const { tenant, actor } = principal;
  if (!hasRole(principal, 'admin')) return { tenant, actor };
  return { tenant: tenant === DEFAULT_TENANT ? null : tenant, actor: null };
};

export const loginRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/whoami',
    summary: 'Get the actor, tenant and roles of the caller',
    roles: ANYBODY,
    answers: { 200: { description: 'The caller', schema: Whoami } },
    handle: (_gateway, { principal: { tenant, actor, roles, via = 'key', expires_at = null } }): Whoami => ({
      tenant,
      actor,
      roles,
      via,
      expires_at,
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/login/options',
    summary: 'List the ways to log in to the console',
    answers: { 200: { description: 'The configured ways to log in', schema: LoginOptions } },
    handle: ({ oidc }): LoginOptions => ({ key: true, oidc: oidc && { name: oidc.name } }),
  }),
  route({
    method: 'POST',
    path: '/v1/login',
    summary: 'Log in to the console with a key; the answer sets the cookie capstan_session',
    body: Login,
    answers: { 204: { description: 'Logged in' }, 401: { description: 'The key is not known' } },
    handle: async (gateway, { body, request, reply }) => {
      if (request.headers.origin !== undefined) gateway.checkOrigin(request);
      const principal = await byKey(gateway, body.key, request);
      const { secret } = await createLogin(gateway.store, principal, gateway.session_ms);
      setSessionCookie(request, reply, secret, gateway.session_ms);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'POST',
    path: '/v1/logout',
    summary: 'End the login of this cookie',
    roles: ANYBODY,
    answers: { 204: { description: 'Logged out; the cookie is no longer valid' } },
    handle: async (gateway, { principal, request, reply }) => {
      const secret = sessionOf(request);
      if (secret !== undefined) await endLogin(gateway.store, principal, secret);
      gateway.authenticator.forget();
      gateway.relay.publish('refresh', ['keys']);
      setSessionCookie(request, reply, '', 0);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/v1/logins',
    summary: 'List console logins: your own, or all of the tenant for an admin',
    roles: ANYBODY,
    query: AllQuery,
    answers: { 200: { description: 'The logins, newest first', schema: pageOf(ActiveLogin) } },
    handle: async ({ store }, { principal, query, request }) =>
      pageOfAll(await listLogins(store.db, scopeOf(principal), sessionOf(request)), query),
  }),
  route({
    method: 'DELETE',
    path: '/v1/logins/{id}',
    summary: 'End a login: your own, or any of the tenant as an admin',
    roles: ANYBODY,
    answers: { 204: { description: 'Ended; its cookie is no longer valid' } },
    handle: async ({ store, relay, authenticator }, { principal, params, reply }) => {
      if (!(await revokeLogin(store, principal, params.id ?? '', scopeOf(principal)))) throw notFound(params.id ?? '');
      authenticator.forget();
      relay.publish('refresh', ['keys']);
      return reply.code(204).send();
    },
  }),
];

/** Audits a refused key, as on all other routes. */
async function byKey(gateway: GatewayContext, key: string, request: FastifyRequest): Promise<Principal> {
  try {
    return await gateway.authenticator.byKey(key);
  } catch (failure) {
    if (failure instanceof Failure)
      gateway.refusals.note({ failure, principal: null, address: request.ip, path: '/v1/login' });
    throw failure;
  }
}
