import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** Whoever sends less than this sends to keep the connection. */
const MIN_BYTES_PER_SECOND = 65_536;

/**
 * Ends a request whose body trickles: it may take `body_ms`, and beyond that as long as its bytes come at a fair rate. So a
 * large upload takes what it needs, and a byte a second ends after `body_ms`.
 */
export function limitBody({ raw }: FastifyRequest, body_ms: number, end: (socket: Socket) => void): void {
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return;
  const { socket } = raw;
  const began = performance.now();
  const read_before = socket.bytesRead;
  const look = (): void => {
    if (raw.complete || socket.destroyed) return;
    const explained_ms = ((socket.bytesRead - read_before) / MIN_BYTES_PER_SECOND) * 1000;
    const left_ms = body_ms + explained_ms - (performance.now() - began);
    if (left_ms <= 0) end(socket);
    else timer = setTimeout(look, left_ms).unref();
  };
  let timer = setTimeout(look, body_ms).unref();
  raw.once('close', () => clearTimeout(timer));
}
