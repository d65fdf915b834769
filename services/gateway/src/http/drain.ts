import type { IncomingMessage } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { answerLateBody } from './answer-client-error.js';

export type Shutdown = {
  /** How long new connections are still accepted, for load balancers to notice that this gateway is not ready. */
  delay_ms: number;
  /** How long to keep a connection that is idle or has stalled in the middle of a request. */
  quiet_ms: number;
  /** How long requests in progress may take after new connections are refused. */
  drain_ms: number;
};

const LOOK_MS = 50;
/** How long new connections may keep coming before the port is closed anyway. */
const BACKLOG_MS = 2000;

/**
 * Drains connections between `app.close()` and the end of the last one. While Fastify closes, every answer says
 * `Connection: close`, so clients leave by themselves. Node alone would close idle connections at once, which resets clients that
 * are about to send a request, and would wait forever for a request of which only half has arrived.
 *
 * `beforeDrain` runs once new connections are refused; it should answer callers that wait.
 */
export function drainOnClose(app: FastifyInstance, shutdown: Shutdown, beforeDrain: () => void): void {
  const { server } = app;
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const requests = new Map<Socket, IncomingMessage>();
  app.addHook('onRequest', async ({ raw }) => void requests.set(raw.socket, raw));
  app.addHook('onResponse', async ({ raw }) => void requests.delete(raw.socket));

  /**
   * The kernel resets connections that it has established and Node has not accepted yet when the port is closed. Node accepts one in each
   * turn of its event loop, so this waits for turns without any. Without it, 12 to 28 of 40 clients of a busy gateway were reset.
   */
  const acceptBacklog = async () => {
    const began = performance.now();
    let before: number;
    do {
      before = accepted;
      await nextTurn();
      await nextTurn();
    } while (accepted > before && performance.now() - began < BACKLOG_MS);
  };

  const isUnderWay = (socket: Socket): boolean => requests.get(socket)?.complete ?? false;

  app.addHook('preClose', async () => {
    if (!server.listening) return;
    await delay(shutdown.delay_ms);
    await acceptBacklog();
    // The close of the TCP server: that of the HTTP server would also close idle connections.
    Server.prototype.close.call(server);
    beforeDrain();
    const began = performance.now();
    const heard = new Map<Socket, { bytes: number; at: number }>();
    while (sockets.size > 0 && performance.now() - began < shutdown.drain_ms) {
      const now = performance.now();
      if (now - began >= shutdown.quiet_ms) server.closeIdleConnections();
      for (const socket of sockets) {
        if (isUnderWay(socket)) continue;
        const last = heard.get(socket);
        if (last?.bytes !== socket.bytesRead) heard.set(socket, { bytes: socket.bytesRead, at: now });
        else if (now - last.at >= shutdown.quiet_ms) endHalfSent(socket);
      }
      if (sockets.size > 0) await delay(LOOK_MS);
    }
    for (const socket of sockets) isUnderWay(socket) ? socket.destroy() : endHalfSent(socket);
  });
}

/** Answers 408, unless nothing was sent on the connection yet. */
const endHalfSent = (socket: Socket): void => void (socket.bytesRead === 0 ? socket.destroy() : answerLateBody(socket));
