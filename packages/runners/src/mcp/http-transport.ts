import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Egress } from '@capstan/egress';
import { type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { DepthGuard, type Framing } from './depth-guard.js';
import type { ServerTokens } from './mcp-ports.js';
import type { ResolvedServer } from './resolve-server.js';

/** Longer than any call may take: calls end by their own deadline, which aborts the request. */
const FIRST_BYTE_MS = 660_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The SDK takes a broken stream up again twice, 2.5 s in all. What is unanswered then stays so. */
const RECONNECT = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};
const UNANSWERED_MS = 3000;
const CONNECTION_CLOSED = -32_000;
/** Statuses whose answers have no body, by the Fetch standard. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Streamable HTTP through the egress guard: the registered host and no other. Two things the SDK leaves to chance are
 * settled here: a stream that ends without its answer fails the request, which would otherwise wait for its deadline; and
 * a canceled request lets go of its connection.
 */
export function createHttpTransport(
  server: ResolvedServer,
  url: URL,
  egress: Egress,
  tokens?: ServerTokens,
): StreamableHTTPClientTransport {
  const rules = { network: [url.hostname], deny_private_ips: !server.allow_private };
  const underWay = new Map<RequestId, AbortController>();

  const send: FetchLike = async (target, init) => {
    // Metadata and tokens are of other servers, which the guard has other rules for.
    if (tokens && new URL(String(target)).href !== url.href) return tokens.fetch(target, init);
    const message = init?.method === 'POST' ? readMessage(init.body) : {};
    const stop = new AbortController();
    if (message.id !== undefined) underWay.set(message.id, stop);
    const response = await egress.fetch(String(target), {
      method: init?.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: typeof init?.body === 'string' ? init.body : null,
      rules,
      signal: init?.signal ? AbortSignal.any([init.signal, stop.signal]) : stop.signal,
      // The SDK follows redirects itself, within the origin only.
      max_redirects: 0,
      first_byte_timeout_ms: FIRST_BYTE_MS,
      idle_timeout_ms: 0,
    });
    if (message.canceled !== undefined) underWay.get(message.canceled)?.abort();
    if (message.id !== undefined) onEnd(response.body, message.id);
    const answer = { status: response.status, headers: new Headers(response.headers) };
    if (!WITHOUT_BODY.has(response.status))
      // Not Readable.toWeb: it throws into the void when data comes after a cancel.
      return new Response(ReadableStream.from(limited(response.body, framingOf(init?.method, answer.headers))), answer);
    response.discard();
    return new Response(null, answer);
  };

  const onEnd = (body: Readable, id: RequestId) =>
    body.once('close', () => {
      underWay.delete(id);
      setTimeout(() => transport.onmessage?.(unanswered(id)), UNANSWERED_MS).unref();
    });

  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: server.headers },
    fetch: send,
    reconnectionOptions: RECONNECT,
    ...(tokens ? { authProvider: tokens.provider } : {}),
  });
  return transport;
}

type RequestId = string | number;

/** What was answered is answered: the protocol drops this unless the request is still open. */
const unanswered = (id: RequestId) => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code: CONNECTION_CLOSED, message: 'the connection ended before the answer' },
});

function readMessage(body: unknown): { id?: RequestId; canceled?: RequestId } {
  if (typeof body !== 'string') return {};
  const message: unknown = JSON.parse(body);
  if (typeof message !== 'object' || message === null || !('method' in message)) return {};
  if ('id' in message && isId(message.id)) return { id: message.id };
  if (message.method !== 'notifications/cancelled' || !('params' in message)) return {};
  const { params } = message;
  return typeof params === 'object' && params !== null && 'requestId' in params && isId(params.requestId)
    ? { canceled: params.requestId }
    : {};
}

const isId = (value: unknown): value is RequestId => typeof value === 'string' || typeof value === 'number';

/** As the SDK reads it: what is not asked for with a POST is a stream of events, whatever it says it is. */
function framingOf(method: string | undefined, headers: Headers): { framing: Framing; isAnswer: boolean } {
  const isAnswer = method === 'POST';
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return { framing: isAnswer && type !== 'text/event-stream' ? 'whole' : 'events', isAnswer };
}

type Expected = ReturnType<typeof framingOf>;

/** The stream that a server tells its news on has no end; an answer has. */
async function* limited(body: Readable, { framing, isAnswer }: Expected): AsyncGenerator<Uint8Array> {
  const depth = new DepthGuard(framing);
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (isAnswer && size > MAX_ANSWER_BYTES)
      throw new Error(`an answer of more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`);
    depth.check(chunk);
    yield chunk;
  }
}
