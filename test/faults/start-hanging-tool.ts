import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';

export interface HangingTool {
  /** A new one at each call, so that it hangs again. */
  newUrl(): string;
  /** When the next call hangs. */
  hangs(): Promise<unknown>;
}

/** A tool that never answers the first call of each path, and the second at once. */
export async function startHangingTool(): Promise<HangingTool> {
  const called = new Set<string>();
  const server = createServer(({ url = '' }, response) => {
    if (called.has(url)) return void response.end('at last');
    called.add(url);
    server.emit('hanging');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  let paths = 0;
  return { newUrl: () => `http://127.0.0.1:${port}/${paths++}`, hangs: () => once(server, 'hanging') };
}
