import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { broken } from '../fetch/broken.js';
import { dial } from './dial.js';
import type { Resolve } from './resolve-checked.js';

/** What TLS trusts beside the system's authorities. */
export type TlsOptions = { ca?: string };

export type AgentOptions = { resolve: Resolve; deny_private_ips: boolean; tls?: TlsOptions | undefined };

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;
const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Keeps connections per origin. A pooled connection was checked when it was dialled and cannot lead elsewhere later; the
 * lists of domains are checked per request, so calls whose rules differ only in those share a pool.
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

/** A handshake that fails takes its TCP connection with it. No request was sent yet, and the failure says so. */
const closingOnError =
  (socket: Socket, callback: buildConnector.Callback): buildConnector.Callback =>
  (...result) => {
    const [error] = result;
    if (!error) return callback(...result);
    socket.destroy();
    callback(broken(error, 'tls'), null);
  };
