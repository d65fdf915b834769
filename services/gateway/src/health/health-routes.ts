import { pingStore } from '@capstan/store';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { RETRY_AFTER_S } from '../http/answer-failure.js';
import { type Route, route } from '../http/route.js';

const PING_MS = 2000;

const Check = z.object({ ok: z.boolean(), error: z.string().optional() });
type Check = z.infer<typeof Check>;
const Readiness = z.object({
  ready: z.boolean(),
  postgres: Check,
  queue: Check.extend({ kind: z.enum(['postgres', 'redis']) }),
});

async function check(ping: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PING_MS} ms`)), PING_MS);
  });
  try {
    await Promise.race([ping(), late]);
    return { ok: true };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** A gateway without its queue still takes work, which is delivered later, but it is not ready to have it done. */
async function readiness({ store, queue }: GatewayContext) {
  const [postgres, delivery] = await Promise.all([check(() => pingStore(store)), check(() => queue.ping())]);
  return { ready: postgres.ok && delivery.ok, postgres, queue: { kind: queue.kind, ...delivery } };
}

export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether this process lives',
    answers: { 200: { description: 'It does', schema: z.object({ status: z.literal('ok') }) } },
    handle: () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether Postgres and the queue can be reached',
    answers: {
      200: { description: 'Both can', schema: Readiness },
      503: { description: 'One cannot; the body says which', schema: Readiness },
    },
    handle: async (gateway, { reply }) => {
      const answer = await readiness(gateway);
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
