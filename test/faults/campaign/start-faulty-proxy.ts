import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { atEnd } from '../../fixtures/at-end.js';

/** A proxy between one process and one server. */
export interface FaultyProxy {
  /** The URL of the server through this proxy. */
  readonly url: string;
  /** Open connections carry nothing more in either direction, and are not closed. New ones work. */
  silenceOpen(): void;
  /** Nothing passes on open or new connections: for each side, the other host is gone. */
  silenceAll(): void;
  /** Whether the connection that the server sees from this port goes through this proxy. */
  carries(port: number): boolean;
  /** With this probability, an answer of the server is dropped and the connection cut. 0 switches it off. */
  loseAnswers(probability: number): void;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  silent: boolean;
}

export async function startFaultyProxy(url: string, fraction: () => number): Promise<FaultyProxy> {
  const target = new URL(url);
  const pairs = new Set<Pair>();
  const unheard = new Set<Socket>();
  let deaf = false;
  let lost = 0;

  const proxy = createServer((client) => {
    client.on('error', () => undefined);
    if (deaf) {
      unheard.add(client.pause());
      return;
    }
    const pair: Pair = { client, server: createConnection(Number(target.port), target.hostname), silent: false };
    pairs.add(pair);
    const end = () => {
      // The other side of a silent connection never learns that this side has closed it.
      if (pair.silent) return;
      pairs.delete(pair);
      client.destroy();
      pair.server.destroy();
    };
    for (const socket of [client, pair.server]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.on('data', (data) => pair.silent || pair.server.write(data));
    pair.server.on('data', (data) => {
      if (pair.silent) return;
      if (lost > 0 && fraction() < lost) end();
      else client.write(data);
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  atEnd(() => {
    proxy.close();
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
    for (const client of unheard) client.destroy();
  });

  const through = new URL(url);
  through.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const silenceOpen = () => {
    for (const pair of pairs) {
      pair.silent = true;
      pair.client.pause();
      pair.server.pause();
    }
  };
  return {
    url: through.href,
    silenceOpen,
    silenceAll() {
      deaf = true;
      silenceOpen();
    },
    carries: (port) => [...pairs].some(({ server }) => server.localPort === port),
    loseAnswers(probability) {
      lost = probability;
    },
  };
}
