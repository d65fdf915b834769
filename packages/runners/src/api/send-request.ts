import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { EgressResponse } from '@capstan/egress';
import { logLine, shownUrl } from '../log-line.js';
import type { Call } from '../runner.js';
import type { ApiContext } from './api-context.js';

export type ApiRequest = {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  first_byte_timeout_ms: number;
  /** For all tries together, including pauses. */
  timeout_ms?: number;
  follow_redirects?: boolean;
  signal: AbortSignal;
};

const TRIES = 3;
const BACKOFF_MS = 200;
/** If the server asks to wait longer, the retry is left to the queue, so that no slot is blocked. */
const MAX_PAUSE_MS = 5000;
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
const BUSY = new Set([429, 502, 503, 504]);
const UNSENT = new Set<unknown>(['resolve', 'connect', 'tls']);

/** True if the request may be repeated even though it may have taken effect (RFC 9110, 9.2.2). */
export const isRepeatable = ({ method, headers }: Pick<ApiRequest, 'method' | 'headers'>): boolean =>
  IDEMPOTENT.has(method) || Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');

export const isBusy = (status: number): boolean => BUSY.has(status);

/**
 * Sends the request, with retries where that is safe: a request that was never sent can always be retried, one that was sent only if it is
 * idempotent.
 */
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
    // The pause would leave no time for another try.
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

/** Does not replace a header that the caller set. */
const withTrace = (headers: ApiRequest['headers'], traceparent: string | undefined): ApiRequest['headers'] =>
  traceparent === undefined || Object.keys(headers).some((name) => name.toLowerCase() === 'traceparent')
    ? headers
    : { ...headers, traceparent };

/** The URLs of the redirects, in order. */
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
      onSend: () => call.beforeEffect(),
      onDomain: (domain) => domains.add(domain),
      ...(!follow_redirects && { max_redirects: 0 }),
    });
    // The request was sent even if reading the response fails.
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

/** The request may have taken effect although no response arrived, and repeating it may do so again: the outcome is unknown. */
function markSent(failure: Failure, request: ApiRequest): Failure {
  const { message: detail, context } = failure;
  if (failure.kind !== 'EGRESS_FAILED' || isRepeatable(request) || UNSENT.has(context.phase)) return failure;
  return new Failure('OUTCOME_UNKNOWN', { detail, cause: failure, context, retryable: false });
}

function pauseBefore(sent: EgressResponse | Failure, request: ApiRequest, tries: number): number | null {
  const backoff = BACKOFF_MS * 2 ** (tries - 1) * (0.5 + Math.random());
  // A server that timed out once is not tried again.
  if (sent instanceof Failure) return sent.retryable && sent.context.phase !== 'first_byte' ? backoff : null;
  if (!isBusy(sent.status) || !isRepeatable(request)) return null;
  const pause = retryAfter(sent.headers['retry-after']) ?? backoff;
  return pause <= MAX_PAUSE_MS ? pause : null;
}

/** Retry-After in milliseconds. The header contains seconds or a date. */
function retryAfter(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const REFERENCE = /secret:\/\/([A-Za-z0-9_.-]{1,200})/g;

/** Replaces `secret://name`, alone or in a value such as `Bearer secret://name`, by the secret. */
async function withSecrets(
  headers: Record<string, string>,
  url: string,
  { secret, limits }: Pick<Call, 'secret' | 'limits'>,
): Promise<Record<string, string>> {
  const entries = Object.entries(headers);
  if (!entries.some(([, value]) => value.includes('secret://'))) return headers;
  // Without TLS, anyone on the way to a public server could read the secret. Private addresses often have no TLS.
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && limits.deny_private_ips !== false)
    throw new Failure('EGRESS_DENIED', { detail: 'a secret is sent over https: only' });
  const filled = await Promise.all(
    entries.map(async ([name, value]) => [name, await fill(value, (name) => secret(name, [hostname]))] as const),
  );
  return Object.fromEntries(filled);
}

async function fill(value: string, secret: (name: string) => Promise<string>): Promise<string> {
  const values = new Map<string, string>();
  for (const [, name = ''] of value.matchAll(REFERENCE)) values.set(name, values.get(name) ?? (await secret(name)));
  return value.replaceAll(REFERENCE, (whole, name: string) => values.get(name) ?? whole);
}
