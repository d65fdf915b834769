import type { Readable } from 'node:stream';
import { Failure } from '@capstan/contracts';
import type { Agent, Dispatcher } from 'undici';
import { checkUrl } from '../guard/check-url.js';
import type { EgressRules } from '../guard/egress-rules.js';
import { broken } from './broken.js';
import { ACCEPT_ENCODING, decodedBody } from './decoded-body.js';
import { firstByteDeadline } from './first-byte-deadline.js';
import { type Hop, nextHop } from './next-hop.js';
import { type ReadBody, type ReadLimits, readBody } from './read-body.js';
import { type HeaderValues, requestHeaders } from './request-headers.js';

export type EgressRequest = {
  method?: string;
  headers?: HeaderValues;
  body?: string | Uint8Array | null;
  rules?: EgressRules;
  signal?: AbortSignal;
  max_redirects?: number;
  /** From the start of a hop to the first line of its answer. */
  first_byte_timeout_ms?: number;
  /** How long a body may pause. */
  idle_timeout_ms?: number;
  /** Called with every host that was contacted. */
  onDomain?: (hostname: string) => void;
};

export type EgressResponse = {
  status: number;
  headers: Record<string, string>;
  /** Where the answer came from, and what led there. */
  url: string;
  redirects: string[];
  /** Uncompressed. Read it, or call `discard`. */
  body: Readable;
  read(limits?: Partial<ReadLimits>): Promise<ReadBody>;
  discard(): void;
};

const DEFAULTS = { max_redirects: 5, first_byte_timeout_ms: 30_000, idle_timeout_ms: 30_000 };
const READ_DEFAULTS: ReadLimits = { max_bytes: 10 * 1024 * 1024, timeout_ms: 300_000 };
/** A redirect's body is short; reading it keeps the connection. */
const REDIRECT_BODY_BYTES = 64 * 1024;

/** One request and its redirects, each hop checked, dialled and limited in the same way. */
export async function guardedFetch(agent: Agent, url: string, request: EgressRequest): Promise<EgressResponse> {
  const rules = request.rules ?? {};
  const max_redirects = request.max_redirects ?? DEFAULTS.max_redirects;
  const headers = { 'accept-encoding': ACCEPT_ENCODING, ...requestHeaders(request.headers ?? {}) };
  const method = (request.method ?? 'GET').toUpperCase();
  let hop: Hop = { url: checkUrl(url, rules), method, headers, body: request.body ?? null };
  const redirects: string[] = [];
  for (;;) {
    const answer = await exchange(agent, hop, request).catch((error: unknown) => {
      throw redirects.length > 0 ? afterRedirect(error) : error;
    });
    const next = max_redirects > 0 && follow(hop, answer, rules);
    if (!next) return toResponse(hop, answer, redirects);
    answer.body.dump({ limit: REDIRECT_BODY_BYTES, signal: AbortSignal.timeout(1000) }).catch(() => {});
    redirects.push(hop.url.href);
    if (redirects.length > max_redirects)
      throw new Failure('EGRESS_FAILED', {
        detail: `more than ${max_redirects} redirects`,
        retryable: false,
        context: { phase: 'redirect' },
      });
    hop = next;
  }
}

/** The request that led here was answered, so it was sent, whatever became of this hop. */
function afterRedirect(error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'EGRESS_FAILED') return error;
  const { message: detail, retryable } = error;
  return new Failure(error.kind, { detail, retryable, cause: error, context: { phase: 'redirect' } });
}

function follow(hop: Hop, answer: Dispatcher.ResponseData, rules: EgressRules): Hop | null {
  try {
    return nextHop(hop, answer.statusCode, flat(answer.headers).location, rules);
  } catch (error) {
    answer.body.on('error', () => {}).destroy();
    throw error;
  }
}

async function exchange(agent: Agent, { url, method, headers, body }: Hop, request: EgressRequest) {
  const deadline = firstByteDeadline(request.first_byte_timeout_ms ?? DEFAULTS.first_byte_timeout_ms, request.signal);
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
      signal: deadline.signal,
      headersTimeout: 0,
      bodyTimeout: request.idle_timeout_ms ?? DEFAULTS.idle_timeout_ms,
    });
    request.onDomain?.(url.hostname);
    return answer;
  } catch (error) {
    const failure = broken(error);
    if (failure.kind === 'EGRESS_FAILED' && failure.context.phase !== 'resolve') request.onDomain?.(url.hostname);
    if (request.signal?.aborted) throw request.signal.reason;
    throw failure;
  } finally {
    deadline.met();
  }
}

function toResponse({ url }: Hop, answer: Dispatcher.ResponseData, redirects: string[]): EgressResponse {
  const headers = flat(answer.headers);
  const body = decodedBody(answer.body, headers['content-encoding']);
  return {
    status: answer.statusCode,
    headers,
    url: url.href,
    redirects,
    body,
    read: (limits) => readBody(body, { ...READ_DEFAULTS, ...limits }),
    discard: () => {
      body.on('error', () => {}).destroy();
    },
  };
}

/** One string per name; undici gives a list where a header came several times. */
const flat = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
