import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { answerTo, type ProxyWay } from './proxy-way.js';

const IDLE_MS = 120_000;

/** Handles CONNECT: opens a guarded connection and pipes bytes both ways. */
export async function tunnel(way: ProxyWay, authority: string, client: Socket, head: Buffer): Promise<void> {
  const target = parseAuthority(authority);
  if (!target) return refuse(client, 400, 'CONNECT needs host:port');
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  try {
    const upstream = await way.egress.dial(target.host, target.port, { rules: way.rules, signal: gone.signal });
    way.track(upstream);
    way.onDomain?.(target.host);
    for (const socket of [client, upstream]) socket.setTimeout(IDLE_MS, () => socket.destroy());
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) upstream.write(head);
    pipeline(client, upstream, () => {});
    pipeline(upstream, way.meter.through(), client, () => {});
  } catch (error) {
    if (client.destroyed) return;
    const { status, message, headers } = answerTo(way, target.host, error);
    refuse(client, status, message, headers);
  }
}

/** `example.com:443`, `[::1]:443`. */
function parseAuthority(authority: string): { host: string; port: number } | null {
  const colon = authority.lastIndexOf(':');
  const host = authority.slice(0, colon);
  const port = Number(authority.slice(colon + 1));
  return colon > 0 && Number.isInteger(port) && port > 0 && port < 65_536 ? { host, port } : null;
}

const REASONS = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' } as const;

function refuse(
  client: Socket,
  status: keyof typeof REASONS,
  message: string,
  headers: Record<string, string> = {},
): void {
  const body = `${message}\n`;
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  client.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${head}\r\n${body}`);
}
