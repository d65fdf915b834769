import { activeSpan, contextFrom, fail, isTracing, type Span, SpanKind, startSpan } from '@capstan/backbone';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** A span for each request to the API, as a child of the caller's. Probes have none. */
export function traceRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const { url: route } = request.routeOptions;
    if (!isTracing() || route === undefined || !/^\/(v1|mcp)/.test(route)) return;
    request.span = startSpan(`${request.method} ${route}`, {
      kind: SpanKind.SERVER,
      parent: contextFrom(request.headers),
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'url.path': request.url.split('?', 1)[0] ?? '',
        'capstan.request_id': request.id,
      },
    });
  });
  app.addHook('onResponse', async ({ span, principal }, { statusCode }) => {
    if (!span) return;
    span.setAttribute('http.response.status_code', statusCode);
    if (principal) span.setAttribute('capstan.tenant', principal.tenant);
    if (statusCode >= 500) fail(span, String(statusCode));
    span.end();
  });
}

/** Records on the span of the request how long the caller waited, and the final status. */
export const noteWait = (waited_ms: number, status: string | null): void =>
  void activeSpan()?.addEvent('wait', {
    'capstan.wait_ms': Math.round(waited_ms),
    ...(status ? { 'capstan.status': status } : {}),
  });

export const traceIdOfRequest = ({ span }: FastifyRequest): string | undefined => span?.spanContext().traceId;

declare module 'fastify' {
  interface FastifyRequest {
    span?: Span;
  }
}
