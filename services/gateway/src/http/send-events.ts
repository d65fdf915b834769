import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../gateway-context.js';

/** Sends server-sent events until the client disconnects or the gateway stops. */
export function sendEvents(
  { stopping }: GatewayContext,
  reply: FastifyReply,
  follow: (signal: AbortSignal) => AsyncIterable<string>,
): FastifyReply {
  const gone = new AbortController();
  reply.raw.on('close', () => gone.abort());
  reply.headers({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  void reply.send(Readable.from(follow(AbortSignal.any([gone.signal, stopping]))));
  // The first event may take a while. Until it gets the headers, the client does not know that it is connected.
  reply.raw.flushHeaders();
  return reply;
}

/** The last event that a reconnecting client has received. */
export function lastEventId({ headers }: FastifyRequest): string | undefined {
  const header = headers['last-event-id'];
  return Array.isArray(header) ? header[0] : header;
}
