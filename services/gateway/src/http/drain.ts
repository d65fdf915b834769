import type { IncomingMessage } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { answerLateBody } from './answer-client-error.js';

export type Shutdown = {
  /** How long new connections are still taken, for balancers to see that this gateway is not ready. */
  delay_ms: number;
  /** How long an idle connection, or one that sends nothing more of its request, is kept for the client to speak or leave. */
  quiet_ms: number;
  /** How long requests under way may take, after that. */
  drain_ms: number;
};

const LOOK_MS = 50;

/**
 * What happens between `app.close()` and the end of the last connection. Every answer from then on says `Connection: close`
 * (Fastify does that while it closes), so clients leave by themselves. Node would close idle connections at once, and whoever
 * was about to send a request on one would get a reset; and it would wait forever for a request of which half has arrived.
 *
 * `beforeDrain` runs when no new connections are taken: whoever waits for something is answered there.
 */
export function drainOnClose(app: FastifyInstance, shutdown: Shutdown, beforeDrain: () => void): void {
  const { server } = app;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const requests = new Map<Socket, IncomingMessage>();
  app.addHook('onRequest', async ({ raw }) => void requests.set(raw.socket, raw));
  app.addHook('onResponse', async ({ raw }) => void requests.delete(raw.socket));

  const isUnderWay = (socket: Socket): boolean => requests.get(socket)?.complete ?? false;

  app.addHook('preClose', async () => {
    if (!server.listening) return;
    await delay(shutdown.delay_ms);
    // Of the TCP server alone: that of HTTP closes idle connections, too.
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

/** Of a connection on which nothing was asked yet, nothing is answered. */
const endHalfSent = (socket: Socket): void => void (socket.bytesRead === 0 ? socket.destroy() : answerLateBody(socket));
