import { type Backbone, serveProbes } from '@capstan/backbone';
import { findConsole, serveConsole } from './console/serve-console.js';
import { createContext } from './create-context.js';
import { descriptionRoutes } from './description/openapi-route.js';
import type { GatewayOptions } from './gateway-options.js';
import { metricsRoute } from './health/health-routes.js';
import { answerUnknown, createApp } from './http/create-app.js';
import { drainOnClose, type Shutdown } from './http/drain.js';
import { listen } from './http/listen.js';
import { logRequest, noteAnswers } from './http/log-request.js';
import { registerRoutes } from './http/register-routes.js';
import { watchStrain } from './load/process-strain.js';
import { takeFile } from './mcp-sources/keep-mcp-servers.js';
import { ROUTES } from './routes.js';

export type Gateway = {
  url: string;
  /** Where /metrics is served, if on an address of its own. */
  metrics_url: string | null;
  stop(): Promise<void>;
};

/** Time to send answers that are ready. */
const SETTLE_MS = 250;
const AT_ONCE: Shutdown = { delay_ms: 0, quiet_ms: 0, drain_ms: 10_000 };

export async function startGateway(backbone: Backbone, options: GatewayOptions): Promise<Gateway> {
  const { log } = backbone;
  const stopping = new AbortController();
  let told_to_stop = false;
  const strain = watchStrain();
  const gateway = await createContext(backbone, options, {
    strain,
    stopping: stopping.signal,
    isStopping: () => told_to_stop,
  });

  const served = options.metrics_at === undefined ? [...ROUTES, metricsRoute] : ROUTES;
  const routes = [...served, ...descriptionRoutes(served)];
  const app = createApp(log, options);
  const shutdown = options.shutdown ?? AT_ONCE;
  drainOnClose(app, shutdown, () => {
    // Waiting callers get a 202 soon instead of a broken connection.
    gateway.waiters.close(shutdown.quiet_ms);
    stopping.abort();
    // After those answers. Subscriptions of MCP clients would otherwise stay open until the clients leave.
    setTimeout(() => void gateway.mcp_endpoint.close().catch(() => {}), shutdown.quiet_ms + SETTLE_MS);
  });
  noteAnswers(app);
  registerRoutes(app, gateway, routes, options.bulk_limit);
  const { console_dir = findConsole() } = options;
  answerUnknown(app, log, routes, serveConsole(app, console_dir));
  app.addHook('onResponse', async (request, reply) => {
    gateway.metrics.answered(request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
    logRequest(log, request, reply);
  });
  const url = await listen(app, options);
  const metrics_server = options.metrics_at
    ? await serveProbes({ ...gateway, needs_queue: false }, gateway.metrics.registry, options.metrics_at)
    : null;
  log.info({ url, ...(metrics_server ? { metrics: metrics_server.url } : {}) }, 'gateway started');
  const stopDiscovery = await gateway.mcp_discovery.start(gateway);
  if (options.mcp_file !== undefined) await takeFile(gateway, options.mcp_file);

  return {
    url,
    metrics_url: metrics_server?.url ?? null,
    stop: async () => {
      told_to_stop = true;
      await app.close();
      stopDiscovery();
      await gateway.mcp_endpoint.close();
      await gateway.egress.close();
      strain.close();
      await metrics_server?.close();
      await gateway.readers.close();
      await gateway.app_workers.stop();
      await gateway.committer.idle();
      log.info('gateway stopped');
    },
  };
}
