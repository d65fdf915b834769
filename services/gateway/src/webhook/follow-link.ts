import { findDecidingEndpoint, readHoldLink, useOnce } from '@capstan/store/webhook';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../gateway-context.js';

const USED = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>This link is no longer valid</title>
<h1>This link is no longer valid</h1>
<p>It has been used, has expired, or was not sent by this installation.</p>
<p><a href="/approvals">Sign in to see all held calls</a></p>
</html>
`;

/**
 * Redirects to the hold in the console. The link grants no rights: the page requires a login. It works once, so a forwarded or kept
 * link is useless. HEAD does not use it up, because link checkers use HEAD.
 */
export async function followLink(
  { store, secret_keys }: GatewayContext,
  { id = '', token = '' }: Record<string, string>,
  { method }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const endpoint = await findDecidingEndpoint(store.db, secret_keys, id, 'email');
  const link = endpoint ? readHoldLink(endpoint.secret, token) : null;
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  if (link && (method === 'HEAD' || (await useOnce(store.db, `link:${id}:${token}`, link.expires_at))))
    return reply.redirect(`/approvals/${encodeURIComponent(link.hold_id)}`, 302);
  return reply
    .code(410)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    .send(USED);
}
