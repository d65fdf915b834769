import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server on loopback, until it is closed. */
export async function startServer(listener: RequestListener): Promise<{ url: string; close(): void }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** The address of a server on loopback that is there until the test has ended. */
export async function serve(listener: RequestListener): Promise<string> {
  const { url, close } = await startServer(listener);
  onTestFinished(close);
  return url;
}
