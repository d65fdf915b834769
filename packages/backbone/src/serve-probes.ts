import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProbesEnv } from './env.js';
import type { Backbone } from './open-backbone.js';
import { type Backing, readiness } from './readiness.js';

/** A registry of prom-client. */
export type Metrics = { readonly contentType: string; metrics(): Promise<string> };
export type ProbeServer = {
  /** The URL of the metrics. */
  url: string;
  close(): Promise<void>;
};

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on a separate port: for a service without an HTTP API, or to keep them away from the
 * callers of a gateway.
 */
export async function serveProbes(
  backing: Backing,
  registry: Metrics,
  where: { host: string; port: number },
): Promise<ProbeServer> {
  const answers: Record<string, (response: ServerResponse) => Promise<unknown>> = {
    '/healthz': async (response) => answerJson(response, 200, { status: 'ok' }),
    '/readyz': async (response) => {
      const answer = await readiness(backing);
      answerJson(response, answer.ready ? 200 : 503, answer);
    },
    '/metrics': async (response) =>
      response.setHeader('content-type', registry.contentType).end(await registry.metrics()),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?', 1)[0] ?? ''];
    if (!answer)
      return answerJson(response, 404, { detail: `Only ${Object.keys(answers).join(', ')} are served here.` });
    answer(response).catch(() => response.writeHead(500).end());
  });
  server.listen(where);
  await once(server, 'listening');
  const host = where.host.includes(':') ? `[${where.host}]` : where.host;
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const answerJson = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));

export type Probes = {
  /** Reports not ready from now on. Resolves after the shutdown delay, so that load balancers have time to notice. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

/** Opens the probes of a service without an HTTP API. Without a port, there are none. */
export async function openProbes(backbone: Backbone, registry: Metrics, env: ProbesEnv): Promise<Probes> {
  const { CAPSTAN_METRICS_HOST: host, CAPSTAN_METRICS_PORT: port, CAPSTAN_SHUTDOWN_DELAY_MS: delay_ms } = env;
  let stopping = false;
  const backing = { ...backbone, needs_queue: true, isStopping: () => stopping };
  const server = port === undefined ? null : await serveProbes(backing, registry, { host, port });
  if (server) backbone.log.info({ url: server.url }, 'serving metrics');
  return {
    leave: () => {
      stopping = true;
      return delay(delay_ms);
    },
    close: async () => server?.close(),
  };
}
