import { Failure } from '@capstan/contracts';
import { createLogin } from '@capstan/store/login';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import type { Oidc, PendingLogin } from './oidc.js';
import { isHttps, setSessionCookie } from './session-cookie.js';

const PATH = '/v1/login/oidc';
const COOKIE = 'capstan_oidc';
/** Enough time for a second factor. */
const PENDING_S = 600;
const Pending = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });

export const oidcRoutes: Route[] = [
  route({
    method: 'GET',
    path: PATH,
    summary: 'Log in to the console with the identity provider: redirects the browser there',
    query: z.strictObject({ next: z.string().max(2048).optional().describe('The page of the console to return to') }),
    answers: {
      302: { description: 'Redirect to the identity provider' },
      404: { description: 'No identity provider is configured' },
      502: { description: 'The identity provider cannot be reached' },
    },
    handle: async (gateway, { query, request, reply }) => {
      const callback = callbackOf(gateway, request);
      const { url, pending } = await configured(gateway).begin(callback.href, ownPage(query.next));
      setPending(reply, callback, JSON.stringify(pending), PENDING_S);
      return reply.redirect(url.href, 302);
    },
  }),
  route({
    method: 'GET',
    path: `${PATH}/callback`,
    summary: 'OpenID Connect callback; sets the cookie capstan_session',
    query: z.looseObject({
      state: z.string(),
      code: z.string().optional(),
      error: z.string().optional().describe('Why the provider refused'),
    }),
    answers: {
      302: {
        description: 'Redirect to the console, logged in; after a refusal, to the login page, which says why',
      },
      401: { description: 'The login was not started in this browser, or the provider did not confirm it' },
      403: { description: 'No group of the account has a role' },
    },
    handle: async (gateway, { request, reply }) => {
      const oidc = configured(gateway);
      const callback = callbackOf(gateway, request);
      const pending = pendingOf(request);
      setPending(reply, callback, '', 0);
      try {
        if (!pending) throw begunElsewhere();
        const back = new URL(callback);
        back.search = new URL(request.url, callback).search;
        const principal = await oidc.finish(back, pending);
        const { secret } = await createLogin(gateway.store, principal, gateway.session_ms);
        setSessionCookie(request, reply, secret, gateway.session_ms, callback.protocol === 'https:');
        return reply.redirect(ownPage(pending.next), 302);
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        gateway.refusals.note({ failure, principal: null, address: request.ip, path: PATH });
        // Browsers get the login page, other clients a problem document.
        if (!request.headers.accept?.includes('text/html')) throw failure;
        return reply.redirect(`/login?error=${encodeURIComponent(failure.message)}`, 302);
      }
    },
  }),
];

function configured({ oidc }: GatewayContext): Oidc {
  if (oidc) return oidc;
  throw new Failure('NOT_FOUND', {
    detail: 'No identity provider is configured.',
    suggestion: 'Set CAPSTAN_OIDC_ISSUER and CAPSTAN_OIDC_CLIENT_ID on the gateway, or log in with a key.',
  });
}

const begunElsewhere = () =>
  new Failure('UNAUTHENTICATED', {
    detail: 'This login was started in another browser, or too long ago.',
    suggestion: 'Log in again.',
  });

/** Must be exactly the URL that is registered with the provider. */
function callbackOf({ public_url }: GatewayContext, request: FastifyRequest): URL {
  const base = public_url ?? `${isHttps(request) ? 'https' : 'http'}://${request.headers.host}`;
  return new URL(`${PATH}/callback`, base);
}

/** Only pages of this console: a login link must not be an open redirect. */
const ownPage = (next = '/'): string => (/^\/(?![/\\])[^\s\\]*$/.test(next) ? next : '/');

/** Lax, because the browser has to send it when it comes back from the provider's site. */
function setPending(reply: FastifyReply, callback: URL, value: string, maxAge: number): void {
  const secure = callback.protocol === 'https:';
  void reply.header(
    'set-cookie',
    stringifySetCookie({ name: COOKIE, value, path: PATH, maxAge, httpOnly: true, sameSite: 'lax', secure }),
  );
}

function pendingOf({ headers: { cookie = '' } }: FastifyRequest): PendingLogin | undefined {
  try {
    return Pending.safeParse(JSON.parse(parseCookie(cookie)[COOKIE] ?? 'null')).data;
  } catch {
    return undefined;
  }
}
