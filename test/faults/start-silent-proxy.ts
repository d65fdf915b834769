import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';
import { freePort } from '../fixtures/free-port.js';

export interface SilentProxy {
  /** The URL of the server through this proxy. */
  readonly url: string;
  /**
   * From now on nothing passes on the open connections in either direction, not even their end: the server keeps
   * its side open, as after a host has vanished. New connections work.
   */
  silence(): void;
  /** How many silenced connections the clients still hold. */
  held(): number;
}

/** A TCP proxy in front of a Postgres or a Redis. */
export async function startSilentProxy(server_url: string): Promise<SilentProxy> {
  const target = new URL(server_url);
  const pairs = new Set<readonly [client: Socket, server: Socket]>();
  const silenced = new Set<Socket>();
  const all = new Set<Socket>();

  const proxy = createServer((client) => {
    const server = createConnection(Number(target.port), target.hostname);
    const pair = [client, server] as const;
    pairs.add(pair);
    const isOpen = () => pairs.has(pair);
    for (const [from, to] of [pair, [server, client] as const]) {
      all.add(from);
      from.setNoDelay(true);
      from.on('error', () => {});
      from.on('data', (data) => isOpen() && to.write(data));
      from.on('close', () => {
        silenced.delete(from);
        if (isOpen()) to.destroy();
        pairs.delete(pair);
      });
    }
  });
  const port = await freePort();
  proxy.listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  atEnd(() => {
    proxy.close();
    for (const socket of all) socket.destroy();
  });
  const url = new URL(server_url);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    silence: () => {
      for (const [client] of pairs) silenced.add(client);
      pairs.clear();
    },
    held: () => silenced.size,
  };
}
