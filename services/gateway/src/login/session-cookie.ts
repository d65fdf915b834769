import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_COOKIE } from '../auth/authenticator.js';

/** Whether the browser came by https; a cookie that is Secure would be dropped otherwise. */
export const isHttps = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.origin?.startsWith('https://') === true || headers['x-forwarded-proto'] === 'https';

/** Scripts cannot read it, other sites cannot send it. An empty value takes it back. */
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
