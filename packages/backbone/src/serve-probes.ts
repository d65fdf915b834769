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
  /** Where its metrics are. */
  url: string;
  close(): Promise<void>;
};

/**
 * `/healthz`, `/readyz` and `/metrics` on a port of their own: beside a service that has no other way in, or away from a
 * gateway's callers.
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
  /** Not ready from here on; resolves when whoever sends it work has had the time to notice. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

/** The probes of a service that serves nothing else; without a port it has none. */
export async function openProbes(backbone: Backbone, registry: Metrics, env: ProbesEnv): Promise<Probes> {
  const { CAPSTAN_METRICS_HOST: host, CAPSTAN_METRICS_PORT: port, CAPSTAN_SHUTDOWN_DELAY_MS: delay_ms } = env;
  let stopping = false;
  const backing = { ...backbone, isStopping: () => stopping };
  const server = port === undefined ? null : await serveProbes(backing, registry, { host, port });
  if (server) backbone.log.info({ url: server.url }, 'metrics are served');
  return {
    leave: () => {
      stopping = true;
      return delay(delay_ms);
    },
    close: async () => server?.close(),
  };
}
