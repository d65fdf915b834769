import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import type { Resolve } from '../guard/resolve-checked.js';

export type Dns = { queries: string[]; resolve: Resolve; close(): Promise<void> };

/** A real DNS server, and a resolver that asks it. `answer` gives the IPv4 addresses for the nth question about a name. */
export async function startDns(answer: (name: string, nth: number) => string[]): Promise<Dns> {
  const socket = createSocket('udp4');
  const queries: string[] = [];
  socket.on('message', (query, from) => {
    const { name, end } = readName(query);
    const nth = queries.filter((one) => one === name).length;
    queries.push(name);
    socket.send(reply(query, end + 4, answer(name, nth)), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    queries,
    resolve: (hostname) => resolver.resolve4(hostname),
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Reads the name of the question, which follows the 12-byte header. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function reply(query: Buffer, questionEnd: number, addresses: string[]): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  // A pointer to the queried name, type A, class IN, a TTL of 0, four bytes.
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, query.subarray(12, questionEnd), ...records]);
}
