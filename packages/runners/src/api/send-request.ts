import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { EgressResponse } from '@capstan/egress';
import { logLine, shownUrl } from '../log-line.js';
import type { ApiContext } from './api-context.js';
import { retryAfter } from './retry-after.js';
import { withSecrets } from './secret-headers.js';

export type ApiRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  first_byte_timeout_ms: number;
  /** For all tries and the pauses between them. */
  timeout_ms?: number;
  follow_redirects?: boolean;
  signal: AbortSignal;
};

const TRIES = 3;
const BACKOFF_MS = 200;
/** A server that wants longer is left to the queue, which does not hold a slot meanwhile. */
const MAX_PAUSE_MS = 5000;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
const BUSY = new Set([429, 502, 503, 504]);
const UNSENT = new Set<unknown>(['resolve', 'connect', 'tls']);

/** Whether the same request may be sent again although it may have taken effect (RFC 9110, 9.2.2). */
export const isRepeatable = ({ method, headers }: Pick<ApiRequest, 'method' | 'headers'>): boolean =>
  IDEMPOTENT.has(method) || Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');

export const isBusy = (status: number): boolean => BUSY.has(status);

/** Sends it, and again where that is safe: what never left may always go again, what left only if it is idempotent. */
export async function sendRequest(context: ApiContext, request: ApiRequest): Promise<EgressResponse> {
  const { call } = context;
  const { method, url, timeout_ms = Number.POSITIVE_INFINITY } = request;
  const headers = await withSecrets(withTrace(request.headers, call.traceparent), url, call);
  const started = performance.now();
  const deadline = started + Math.min(timeout_ms, call.limits.timeout_ms);
  for (let tries = 1; ; tries++) {
    logLine(call, `${method} ${shownUrl(url)}`);
    const left_ms = Math.max(1, Math.ceil(started + timeout_ms - performance.now()));
    const first_byte_timeout_ms = Math.min(request.first_byte_timeout_ms, left_ms);
    const sent = await sendOnce(context, { ...request, headers, first_byte_timeout_ms });
    const pause = tries < TRIES ? pauseBefore(sent, request, tries) : null;
    // A pause that outlasts the time leaves none for another try.
    if (pause === null || performance.now() + pause >= deadline) {
      if (sent instanceof Failure) throw sent;
      for (const hop of hopsOf(sent)) logLine(call, `redirected to ${shownUrl(hop)}`);
      return sent;
    }
    logLine(call, `${whatCame(sent)}, again in ${Math.ceil(pause)} ms`);
    if (!(sent instanceof Failure)) sent.discard();
    await delay(pause, undefined, { signal: request.signal });
  }
}

/** What the caller set stays. */
const withTrace = (headers: ApiRequest['headers'], traceparent: string | undefined): ApiRequest['headers'] =>
  traceparent === undefined || Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent')
    ? headers
    : { ...headers, traceparent };

/** Where it was led to, one after another. */
const hopsOf = ({ url, redirects }: EgressResponse): string[] =>
  redirects.length === 0 ? [] : [...redirects.slice(1), url];

const whatCame = (sent: EgressResponse | Failure): string =>
  sent instanceof Failure ? sent.message : `answered ${sent.status}`;

async function sendOnce({ egress, call, domains }: ApiContext, request: ApiRequest): Promise<EgressResponse | Failure> {
  const { method, url, headers, body, first_byte_timeout_ms, signal, follow_redirects = true } = request;
  try {
    const response = await egress.fetch(url, {
      method,
      headers,
      body,
      signal,
      first_byte_timeout_ms,
      rules: call.limits,
      onDomain: (domain) => domains.add(domain),
      ...(!follow_redirects && { max_redirects: 0 }),
    });
    // An answer that breaks off was asked for all the same.
    const read: EgressResponse['read'] = (limits) =>
      response.read(limits).catch((error: unknown) => {
        throw error instanceof Failure ? markSent(error, request) : error;
      });
    return { ...response, read };
  } catch (error) {
    if (error instanceof Failure && error.kind === 'EGRESS_FAILED') return markSent(error, request);
    throw error;
  }
}

/** The request may have taken effect although no answer came, and repeating it may do so again: nobody knows how it ended. */
function markSent(failure: Failure, request: ApiRequest): Failure {
  const { message: detail, context } = failure;
  if (failure.kind !== 'EGRESS_FAILED' || isRepeatable(request) || UNSENT.has(context.phase)) return failure;
  return new Failure('OUTCOME_UNKNOWN', { detail, cause: failure, context, retryable: false });
}

function pauseBefore(sent: EgressResponse | Failure, request: ApiRequest, tries: number): number | null {
  const backoff = BACKOFF_MS * 2 ** (tries - 1) * (0.5 + Math.random());
  // A server that took its whole time once gets no second.
  if (sent instanceof Failure) return sent.retryable && sent.context.phase !== 'first_byte' ? backoff : null;
  if (!isBusy(sent.status) || !isRepeatable(request)) return null;
  const pause = retryAfter(sent.headers['retry-after']) ?? backoff;
  return pause <= MAX_PAUSE_MS ? pause : null;
}
