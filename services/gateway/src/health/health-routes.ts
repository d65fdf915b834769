import { pingStore } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';

const PING_MS = 2000;

type Check = { ok: boolean; error?: string };

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

/** A gateway without its queue still takes work (the outbox keeps it), but it is not ready to have it done. */
async function readiness({ store, queue }: GatewayContext) {
  const [postgres, delivery] = await Promise.all([check(() => pingStore(store)), check(() => queue.ping())]);
  return { ready: postgres.ok && delivery.ok, postgres, queue: { kind: queue.kind, ...delivery } };
}

export const healthRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/healthz',
    summary: 'Whether this process lives',
    answers: { 200: { description: 'It does' } },
    handle: () => ({ status: 'ok' }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    summary: 'Whether Postgres and the queue can be reached',
    answers: { 200: { description: 'Both can' }, 503: { description: 'One cannot; the body says which' } },
    handle: async (gateway, { reply }) => {
      const answer = await readiness(gateway);
      return reply.code(answer.ready ? 200 : 503).send(answer);
    },
  }),
  route({
    method: 'GET',
    path: '/metrics',
    summary: 'Prometheus metrics',
    answers: { 200: { description: 'Text exposition format' } },
    handle: async ({ metrics }, { reply }) =>
      reply.header('content-type', metrics.registry.contentType).send(await metrics.registry.metrics()),
  }),
];
