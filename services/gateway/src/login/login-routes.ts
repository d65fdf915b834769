import { Failure, Login, LoginOptions, type Principal, Role, Whoami } from '@capstan/contracts';
import { createLogin, endLogin } from '@capstan/store';
import type { FastifyRequest } from 'fastify';
import { sessionOf } from '../auth/authenticator.js';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { setSessionCookie } from './session-cookie.js';

const ANYBODY = [...Role.options];

export const loginRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/whoami',
    summary: 'Who the key, login or token belongs to, and what they may do',
    roles: ANYBODY,
    answers: { 200: { description: 'Who is asking', schema: Whoami } },
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
    summary: 'The ways to log in to the console',
    answers: { 200: { description: 'What is configured', schema: LoginOptions } },
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
    answers: { 204: { description: 'Logged out; the cookie is good for nothing any more' } },
    handle: async (gateway, { principal, request, reply }) => {
      const secret = sessionOf(request);
      if (secret !== undefined) await endLogin(gateway.store, principal, secret);
      gateway.authenticator.forget();
      gateway.relay.publish('refresh', ['keys']);
      setSessionCookie(request, reply, '', 0);
      return reply.code(204).send();
    },
  }),
];

/** A key that is refused here is put on the audit like one that is refused elsewhere. */
async function byKey(gateway: GatewayContext, key: string, request: FastifyRequest): Promise<Principal> {
  try {
    return await gateway.authenticator.byKey(key);
  } catch (failure) {
    if (failure instanceof Failure)
      gateway.refusals.note({ failure, principal: null, address: request.ip, path: '/v1/login' });
    throw failure;
  }
}
