import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { checkUrl } from '../guard/check-url.js';
import { answerTo, type ProxyWay } from './proxy-way.js';

/** Headers that apply to a single hop and are not forwarded. `host` follows from the URL. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  // Only this proxy may set it.
  'proxy-status',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Forwards a request with an absolute URL, which clients of a proxy send for http:. The client follows redirects itself. */
export async function forward(way: ProxyWay, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const target = request.url ?? '';
  try {
    const url = checkUrl(target, way.rules);
    const answer = await way.egress.dispatcher(way.rules).request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: endToEnd(request.headers),
      body: hasBody(request) ? request : null,
      signal: gone.signal,
    });
    way.onDomain?.(url.hostname);
    response.writeHead(answer.statusCode, endToEnd(answer.headers));
    await pipeline(answer.body, way.meter.through(), response);
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    const { status, message, headers } = answerTo(way, hostOf(target), error);
    response.writeHead(status, headers);
    response.end(`${message}\n`);
  }
}

function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = new Set(
    String(headers.connection ?? '')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  );
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_BY_HOP.has(name) || named.has(name) ? [] : [[name, value]],
    ),
  );
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : url);
