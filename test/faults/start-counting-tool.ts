import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';

export interface CountingTool {
  readonly url: string;
  /** How often each path was called. */
  readonly calls: ReadonlyMap<string, number>;
}

/** A tool that counts every call that really arrives. A path under /flaky/ fails the first time. */
export async function startCountingTool(): Promise<CountingTool> {
  const calls = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const count = (calls.get(path) ?? 0) + 1;
    calls.set(path, count);
    const status = path.startsWith('/flaky/') && count === 1 ? 500 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ path }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}
