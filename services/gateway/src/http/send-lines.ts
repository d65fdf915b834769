import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Streams texts with backpressure. */
export const sendTexts = (reply: FastifyReply, type: string, texts: AsyncIterable<string>): FastifyReply =>
  reply.header('content-type', type).send(Readable.from(texts, { objectMode: false }));

export const NDJSON = 'application/x-ndjson; charset=utf-8';

export async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
