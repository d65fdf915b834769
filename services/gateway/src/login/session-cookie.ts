import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_COOKIE } from '../auth/authenticator.js';

/** True if the browser uses HTTPS; otherwise it would drop a Secure cookie. */
export const isHttps = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.origin?.startsWith('https://') === true || headers['x-forwarded-proto'] === 'https';

/** HttpOnly and SameSite=Strict: scripts cannot read it, and other sites cannot send it. An empty value deletes it. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  secret: string,
  ttl_ms: number,
  secure = isHttps(request),
): void {
  const cookie = stringifySetCookie({
    name: SESSION_COOKIE,
    value: secret,
    path: '/',
    maxAge: Math.floor(ttl_ms / 1000),
    httpOnly: true,
    sameSite: 'strict',
    secure,
  });
  void reply.header('set-cookie', cookie);
}
