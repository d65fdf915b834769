import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { Egress } from '@capstan/egress';
import {
  extractWWWAuthenticateParams,
  type FetchLike,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { DepthGuard, type Framing } from './depth-guard.js';
import type { ServerTokens } from './mcp-ports.js';
import type { ResolvedServer } from './resolve-server.js';

/** Longer than any call may take: the deadline of a call aborts its request. */
const FIRST_BYTE_MS = 660_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The SDK tries to resume a broken stream twice, within 2.5 s in total. Requests without an answer by then get none. */
const RECONNECT = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 5000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};
const UNANSWERED_MS = 3000;
const CONNECTION_CLOSED = -32_000;
/** Statuses without a body, by the Fetch standard. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/**
 * Streamable HTTP through the egress guard, to the registered host only. It adds two things that the SDK does not do: a stream that
 * ends without an answer fails its request, which would otherwise wait for its deadline; and a canceled request releases its
 * connection.
 */
export function createHttpTransport(
  server: ResolvedServer,
  url: URL,
  egress: Egress,
  tokens?: ServerTokens,
): StreamableHTTPClientTransport & { listening: Promise<void> } {
  const rules = { network: [url.hostname], deny_private_ips: !server.allow_private };
  const underWay = new Map<RequestId, AbortController>();
  let listens = () => {};
  const listening = new Promise<void>((resolve) => {
    listens = resolve;
  });

  const send: FetchLike = async (target, init) => {
    // Metadata and tokens come from other hosts, for which the guard has other rules.
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
    if (init?.method === 'GET') listens();
    if (message.canceled !== undefined) underWay.get(message.canceled)?.abort();
    if (message.id !== undefined) onEnd(response.body, message.id);
    const answer = { status: response.status, headers: new Headers(response.headers) };
    if (tokens && (response.status === 401 || response.status === 403)) await hearChallenge(tokens, answer);
    if (!WITHOUT_BODY.has(response.status)) {
      // The SDK tells nobody why it stopped reading a stream of events.
      const refused = ({ message: why }: Error) =>
        message.id !== undefined && transport.onmessage?.(unanswered(message.id, why));
      const body = limited(response.body, framingOf(init?.method, answer.headers), refused);
      // Not Readable.toWeb: it throws an uncaught exception if data arrives after a cancel.
      return new Response(ReadableStream.from(body), answer);
    }
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
  return Object.assign(transport, { listening });
}

async function hearChallenge(tokens: ServerTokens, answer: ResponseInit): Promise<void> {
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(new Response(null, answer));
  if (scope === undefined && resourceMetadataUrl === undefined) return;
  await tokens.challenged({
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resource_metadata_url: resourceMetadataUrl.href }),
  });
}

type RequestId = string | number;

/** Harmless if the request was answered: the protocol drops it unless the request is still open. */
const unanswered = (id: RequestId, message = 'the connection ended before the answer') => ({
  jsonrpc: '2.0' as const,
  id,
  error: { code: CONNECTION_CLOSED, message },
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

/** Follows the SDK: a response to anything but a POST is a stream of events, whatever its content type. */
function framingOf(method: string | undefined, headers: Headers): { framing: Framing; isAnswer: boolean } {
  const isAnswer = method === 'POST';
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return { framing: isAnswer && type !== 'text/event-stream' ? 'whole' : 'events', isAnswer };
}

type Expected = ReturnType<typeof framingOf>;

/** Limits the depth of all messages and the size of answers. The stream of notifications has no size limit, because it has no end. */
async function* limited(
  body: Readable,
  { framing, isAnswer }: Expected,
  onRefused: (why: Error) => void,
): AsyncGenerator<Uint8Array> {
  const depth = new DepthGuard(framing);
  let size = 0;
  const check = (chunk: Uint8Array): void => {
    size += chunk.length;
    if (isAnswer && size > MAX_ANSWER_BYTES)
      throw new Error(`an answer of more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`);
    depth.check(chunk);
  };
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    try {
      check(chunk);
    } catch (error) {
      if (error instanceof Error) onRefused(error);
      throw error;
    }
    yield chunk;
  }
}
