import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';
import { freePort } from '../fixtures/free-port.js';

export interface CountingProxy {
  /** The URL of the database through this proxy. */
  readonly url: string;
  /** The number of statements since the last call: every Query and every Execute, BEGIN and COMMIT included. */
  take(): number;
}

const TYPE_BYTES = 1;
const STATEMENTS = new Set(['Q', 'E'].map((type) => type.charCodeAt(0)));

export async function startCountingProxy(database_url: string): Promise<CountingProxy> {
  const target = new URL(database_url);
  const sockets = new Set<Socket>();
  let statements = 0;
  const proxy = createServer((client) => {
    const server = createConnection(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
    const read = createReader(() => {
      statements += 1;
    });
    client.on('data', read);
  });
  const port = await freePort();
  proxy.listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  atEnd(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = new URL(database_url);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    take: () => {
      const taken = statements;
      statements = 0;
      return taken;
    },
  };
}

/** Parses what a client sends: a first message without a type, then messages with a type and a length. */
function createReader(onStatement: () => void): (data: Buffer) => void {
  let pending = Buffer.alloc(0);
  let started = false;
  return (data) => {
    pending = Buffer.concat([pending, data]);
    for (;;) {
      const type_bytes = started ? TYPE_BYTES : 0;
      if (pending.length < type_bytes + 4) return;
      const length = type_bytes + pending.readInt32BE(type_bytes);
      if (pending.length < length) return;
      if (started && STATEMENTS.has(pending.readUInt8(0))) onStatement();
      started = true;
      pending = pending.subarray(length);
    }
  };
}
