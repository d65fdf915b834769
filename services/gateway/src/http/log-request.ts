import type { Backbone } from '@capstan/backbone';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { traceIdOfRequest } from './trace-request.js';

/** A line for each request: at `info` where it was refused, at `debug` where not. A fault of ours has its line in answerFailure. */
export function logRequest(
  log: Backbone['log'],
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
): void {
  const level = statusCode >= 400 && statusCode < 500 ? 'info' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      trace_id: traceIdOfRequest(request),
      request_id: request.id,
      tenant: request.principal?.tenant,
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: statusCode,
      duration_ms: Math.round(elapsedTime * 1000) / 1000,
    },
    'request answered',
  );
}
