import type { Readable } from 'node:stream';
import { Failure } from '@capstan/contracts';
import type { Agent, Dispatcher } from 'undici';
import { checkUrl, denied } from '../guard/check-url.js';
import type { EgressRules } from '../guard/egress-rules.js';
import { broken } from './broken.js';
import { ACCEPT_ENCODING, decodedBody } from './decoded-body.js';
import { type ReadBody, type ReadLimits, readBody } from './read-body.js';
import { acrossOrigins, type HeaderValues, requestHeaders, withoutBody } from './request-headers.js';

export type EgressRequest = {
  method?: string;
  headers?: HeaderValues;
  body?: string | Uint8Array | null;
  rules?: EgressRules;
  signal?: AbortSignal;
  max_redirects?: number;
  /** From the start of a hop to the first line of its response. */
  first_byte_timeout_ms?: number;
  /** The longest pause between two parts of a body. */
  idle_timeout_ms?: number;
  /** Called right before the request of each hop is written to its open connection. If it aborts `signal`, nothing is sent. */
  onSend?: (() => void) | undefined;
  /** Called with every host that was contacted. */
  onDomain?: (hostname: string) => void;
};

export type EgressResponse = {
  status: number;
  headers: Record<string, string>;
  /** The URL that responded; `redirects` are the URLs that led there. */
  url: string;
  redirects: string[];
  /** Uncompressed. Read it, or call `discard`. */
  body: Readable;
  read(limits?: Partial<ReadLimits>): Promise<ReadBody>;
  discard(): void;
};

const DEFAULTS = { max_redirects: 5, first_byte_timeout_ms: 30_000, idle_timeout_ms: 30_000 };
const READ_DEFAULTS: ReadLimits = { max_bytes: 10 * 1024 * 1024, timeout_ms: 300_000 };
/** The body of a redirect is short, and reading it lets the connection be reused. */
const REDIRECT_BODY_BYTES = 64 * 1024;

/** Sends a request and follows redirects. Every hop gets the same checks and limits. */
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

/** An error after a redirect: the first request was sent and answered, so this must not count as "nothing was sent". */
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
    const answer = await tellingOnSend(agent, request.onSend).request({
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

/** Calls `onSend` after DNS, the handshake and the wait for a free connection, right before undici writes the request. */
function tellingOnSend(agent: Agent, onSend: EgressRequest['onSend']): Dispatcher {
  if (!onSend) return agent;
  return agent.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, {
        onRequestStart: (controller, context) => {
          onSend();
          handler.onRequestStart?.(controller, context);
        },
        onResponseStart: (...args) => handler.onResponseStart?.(...args),
        onResponseData: (...args) => handler.onResponseData?.(...args),
        onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
        onResponseError: (...args) => handler.onResponseError?.(...args),
      }),
  );
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

/** Joins repeated headers, which undici returns as lists. */
const flat = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );

type Deadline = { signal: AbortSignal; met(): void };

/** Aborts if no response starts in time. After `met`, only the caller's own signal can abort. */
function firstByteDeadline(timeout_ms: number, caller: AbortSignal | undefined): Deadline {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate(timeout_ms)), timeout_ms);
  return {
    signal: caller ? AbortSignal.any([caller, late.signal]) : late.signal,
    met: () => clearTimeout(timer),
  };
}

const tooLate = (timeout_ms: number) =>
  new Failure('EGRESS_FAILED', {
    detail: `server did not respond within ${seconds(timeout_ms)}`,
    context: { phase: 'first_byte' },
  });

const seconds = (ms: number) => (ms === 1000 ? '1 second' : `${ms / 1000} seconds`);

type Hop = { url: URL; method: string; headers: HeaderValues; body: string | Uint8Array | null };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Returns the request that a redirect asks for, checked like the first one. Null if the response is not a redirect. */
function nextHop(hop: Hop, status: number, location: string | undefined, rules: EgressRules): Hop | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  if (!URL.canParse(location, hop.url.href))
    throw denied('the target of a redirect is not a URL', 'invalid_url', hop.url.href);
  const url = checkUrl(new URL(location, hop.url.href).href, rules);
  const headers = url.origin === hop.url.origin ? hop.headers : acrossOrigins(hop.headers);
  return becomesGet(status, hop.method)
    ? { url, method: 'GET', headers: withoutBody(headers), body: null }
    : { url, method: hop.method, headers, body: hop.body };
}

/** As browsers do (Fetch standard, HTTP-redirect fetch). */
const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== 'GET' && method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
