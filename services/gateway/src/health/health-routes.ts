import { Readiness, readiness } from '@capstan/backbone';
import { z } from 'zod';
import { RETRY_AFTER_S } from '../http/answer-failure.js';
import { type Route, route } from '../http/route.js';

export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Liveness: whether this process is up',
    answers: { 200: { description: 'The process is up', schema: z.object({ status: z.literal('ok') }) } },
    handle: () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary:
      'Readiness: whether Postgres is reachable and the process is not shutting down; the body also says whether the queue is',
    answers: {
      200: { description: 'It is ready', schema: Readiness },
      503: { description: 'It is not; the body says why', schema: Readiness },
    },
    handle: async (gateway, { reply }) => {
      const answer = await readiness({ ...gateway, needs_queue: false });
      if (answer.ready) return answer;
      return reply.code(503).header('retry-after', RETRY_AFTER_S).send(answer);
    },
  }),
];

export const metricsRoute: Route = route({
  method: 'GET',
  path: '/metrics',
  summary: 'Prometheus metrics',
  answers: { 200: { description: 'Text exposition format', media_type: 'text/plain' } },
  handle: async ({ metrics: { registry } }, { reply }) =>
    reply.header('content-type', registry.contentType).send(await registry.metrics()),
});
