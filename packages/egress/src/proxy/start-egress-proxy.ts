import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { Egress } from '../create-egress.js';
import type { EgressRules } from '../guard/egress-rules.js';
import { createMeter } from './byte-meter.js';
import { forward } from './forward.js';
import { tunnel } from './tunnel.js';

export type EgressProxyOptions = {
  egress: Egress;
  rules: EgressRules;
  /** The path of a Unix socket. Without it, the proxy listens on a free loopback port. */
  path?: string;
  /** The most bytes received in total. Beyond it, every connection is closed. */
  max_bytes?: number;
  max_connections?: number;
  onDomain?: (hostname: string) => void;
  onRefused?: (refusal: Refusal) => void;
  onExceeded?: () => void;
};

export type Refusal = { host: string; reason: string; rule?: string };

/**
 * The header that marks a response as the proxy's own (RFC 9209). Its value begins with this name. Servers behind the proxy
 * cannot set it.
 */
export const PROXY_STATUS = { header: 'proxy-status', name: 'capstan' };

/** A proxy for programs that cannot use the guard directly: browsers and sandboxed programs. */
export type EgressProxy = {
  /** `http://127.0.0.1:port`; null on a Unix socket. */
  url: string | null;
  received_bytes(): number;
  close(): Promise<void>;
};

const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 10_000;

/** Starts an HTTP proxy for plain requests and CONNECT, which applies the given rules to all connections. */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS, keepAliveTimeout: 5000 });
  server.maxConnections = options.max_connections ?? MAX_CONNECTIONS;
  const open = new Set<Socket>();
  const track = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A peer that disconnects is a normal end. Without a listener, the error would crash the process.
    socket.on('error', () => {});
  };
  const cutAll = () => {
    for (const socket of open) socket.destroy();
  };
  const meter = createMeter(options.max_bytes ?? Number.POSITIVE_INFINITY, () => {
    cutAll();
    options.onExceeded?.();
  });
  const way = { ...options, meter, track };

  server.on('connection', track);
  server.on('request', (request, response) => {
    void forward(way, request, response);
  });
  server.on('connect', (request, client: Socket, head) => {
    void tunnel(way, request.url ?? '', client, head);
  });
  server.on('upgrade', (_request, client) => client.destroy());
  server.on('clientError', (_error, client) => client.destroy());
  const where: ListenOptions = options.path === undefined ? { host: '127.0.0.1', port: 0 } : { path: options.path };
  server.listen(where);
  await once(server, 'listening');
  return {
    url: options.path === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : null,
    received_bytes: meter.total,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cutAll();
      await closed;
    },
  };
}
