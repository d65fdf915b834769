import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';

/** A proxy in front of a gateway. `cut` ends every open connection, in the middle of whatever it carries. */
export async function startCuttingProxy(url: string): Promise<{ url: string; cut(): number }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const gateway = createConnection(Number(port), hostname);
    for (const socket of [client, gateway]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        gateway.destroy();
      });
    }
    client.pipe(gateway).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    const count = sockets.size;
    for (const socket of sockets) socket.resetAndDestroy();
    return count;
  };
  atEnd(() => {
    cut();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port');
  return { url: `http://127.0.0.1:${address.port}`, cut };
}
