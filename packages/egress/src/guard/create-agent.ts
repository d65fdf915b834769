import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { broken } from '../fetch/broken.js';
import { dial } from './dial.js';
import type { Resolve } from './resolve-checked.js';

/** Certificate authorities that TLS trusts in addition to those of the system. */
export type TlsOptions = { ca?: string };

export type AgentOptions = { resolve: Resolve; deny_private_ips: boolean; tls?: TlsOptions | undefined };

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Pools connections by origin. A pooled connection was checked when it was opened, and its address cannot change. Domain lists are
 * checked for each request, so calls whose rules differ only in those share a pool.
 */
export function createAgent({ resolve, deny_private_ips, tls }: AgentOptions): Agent {
  const secure = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...tls });
  const connect: buildConnector.connector = (options, callback) => {
    const isSecure = options.protocol === 'https:';
    const port = Number(options.port) || (isSecure ? 443 : 80);
    dial(options.hostname, port, { rules: { deny_private_ips }, resolve, timeout_ms: CONNECT_TIMEOUT_MS }).then(
      (socket) =>
        isSecure
          ? secure({ ...options, httpSocket: socket }, closingOnError(socket, callback))
          : callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
  return new Agent({
    connect,
    connections: CONNECTIONS_PER_ORIGIN,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    allowH2: false,
  });
}

/** Closes the TCP connection if the handshake fails. The phase `tls` says that no request was sent yet. */
const closingOnError =
  (socket: Socket, callback: buildConnector.Callback): buildConnector.Callback =>
  (...result) => {
    const [error] = result;
    if (!error) return callback(...result);
    socket.destroy();
    callback(broken(error, 'tls'), null);
  };
