import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string };
export type Answer = { status?: number; type?: string; headers?: Record<string, string>; body?: unknown };
/** Returns a value to send as JSON, or writes to the response itself and returns nothing. */
export type Handler = (seen: Seen, response: ServerResponse, nth: number) => Answer | undefined;

/** A minimal HTTP server that records requests, for tests of the wire format. */
export const serve = async (handler: Handler) => {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body: await text(request) };
    const answer = handler(one, response, seen.push(one));
    if (answer === undefined) return;
    const { status = 200, type = 'application/json', headers: extra = {}, body = null } = answer;
    response.writeHead(status, { 'content-type': type, ...extra });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, port, seen, close, [Symbol.asyncDispose]: close };
};
