import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry of prom-client. */
export type Metrics = { readonly contentType: string; metrics(): Promise<string> };
export type MetricsServer = { url: string; close(): Promise<void> };

/** For Prometheus, on a port of its own: beside a worker that has no other way in, or away from a gateway's callers. */
export async function serveMetrics(registry: Metrics, where: { host: string; port: number }): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    registry.metrics().then(
      (text) => response.setHeader('content-type', registry.contentType).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(where);
  await once(server, 'listening');
  return {
    url: `http://${where.host}:${(server.address() as AddressInfo).port}/metrics`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
