import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../gateway-context.js';
import type { Route } from './route.js';

/** What MCP clients read of an answer, besides its body. They send a key or a token themselves, so no cookies are allowed. */
const ANSWER_HEADERS = 'mcp-session-id, www-authenticate, x-request-id';
const DAY_S = '86400';

/** Lets a page of another origin read the answer. Its origin has been checked. */
export function allowOrigin({ headers: { origin } }: FastifyRequest, reply: FastifyReply): void {
  reply.header('vary', 'origin, access-control-request-headers');
  if (origin === undefined) return;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': ANSWER_HEADERS });
}

/** Browsers ask first whether a page of another origin may send a key. */
export function registerPreflights(app: FastifyInstance, { checkCaller }: GatewayContext, routes: Route[]): void {
  const checked = routes.filter(({ own_pages_only }) => own_pages_only);
  for (const path of new Set(checked.map((route) => route.path))) {
    const methods = checked.filter((route) => route.path === path).map(({ method }) => method);
    app.options(path.replace(/\{(\w+)\}/g, ':$1'), async (request, reply) => {
      checkCaller(request);
      allowOrigin(request, reply);
      return reply
        .code(204)
        .headers({
          allow: methods.join(', '),
          'access-control-allow-methods': methods.join(', '),
          // Tools may want arguments in headers of their own.
          'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '',
          'access-control-max-age': DAY_S,
        })
        .send();
    });
  }
}
