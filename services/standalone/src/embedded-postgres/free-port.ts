import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range from which Linux takes the ports of outgoing connections (32768 up): a client that keeps
// dialling a stopped server on a port of that range can be given that very port and connect to itself, and then
// the server cannot come back.
const LOWEST = 15_000;
const HIGHEST = 32_000;

export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await canListen(port)) return port;
  }
  throw new Error(`no free port found on 127.0.0.1 between ${LOWEST} and ${HIGHEST}`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
