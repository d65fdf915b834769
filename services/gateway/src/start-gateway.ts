import type { Backbone } from '@capstan/backbone';
import type { Catalog } from '@capstan/catalog';
import { createAuthenticator } from './auth/authenticator.js';
import { createChanges } from './event/changes.js';
import type { GatewayContext } from './gateway-context.js';
import { healthRoutes } from './health/health-routes.js';
import { createMetrics } from './health/metrics.js';
import { createApp } from './http/create-app.js';
import { openapi } from './http/openapi.js';
import { registerRoutes } from './http/register-routes.js';
import { createCommitter } from './invocation/committer.js';
import { invocationRoutes } from './invocation/invocation-routes.js';
import { createWaiters } from './invocation/waiters.js';
import { keyRoutes } from './key/key-routes.js';
import { policyRoutes } from './policy/policy-routes.js';
import { createTenantPolicies } from './policy/tenant-policies.js';
import { queueRoutes } from './queue/queue-routes.js';
import { runRoutes } from './run/run-routes.js';
import { toolRoutes } from './tool/tool-routes.js';

export type GatewayOptions = { host: string; port: number; body_limit: number; bulk_limit: number; catalog: Catalog };
export type Gateway = { url: string; stop(): Promise<void> };

const ROUTES = [
  ...healthRoutes,
  ...invocationRoutes,
  ...runRoutes,
  ...queueRoutes,
  ...keyRoutes,
  ...policyRoutes,
  ...toolRoutes,
];

export async function startGateway(backbone: Backbone, options: GatewayOptions): Promise<Gateway> {
  const { store, relay, log } = backbone;
  const waiters = createWaiters(store, relay);
  const committer = createCommitter(backbone);
  const stopping = new AbortController();
  const gateway: GatewayContext = {
    ...backbone,
    catalog: options.catalog,
    policies: await createTenantPolicies(store, relay),
    authenticator: createAuthenticator(store, relay),
    committer,
    waiters,
    changes: createChanges(relay),
    stopping: stopping.signal,
    metrics: createMetrics(store, waiters.count),
  };

  const app = createApp(log, options.body_limit);
  registerRoutes(app, gateway, ROUTES, options.bulk_limit);
  const document = openapi(ROUTES);
  app.get('/openapi.json', () => document);
  app.addHook('onResponse', async (request, reply) => {
    const route = `${request.method} ${request.routeOptions.url ?? 'none'}`;
    gateway.metrics.answered(route, reply.statusCode, reply.elapsedTime / 1000);
  });
  const url = await app.listen({ host: options.host, port: options.port });
  log.info({ url }, 'gateway started');

  return {
    url,
    stop: async () => {
      // Whoever waits is answered 202 now rather than cut off.
      waiters.close();
      stopping.abort();
      await app.close();
      await committer.idle();
      log.info('gateway stopped');
    },
  };
}
