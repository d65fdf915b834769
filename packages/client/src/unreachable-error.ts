import { Unavailable } from './errors.js';

/** There was no response: nothing listens at the address, or the connection ended early. */
export class UnreachableError extends Unavailable {
  override readonly name = 'UnreachableError';
  readonly url: string;
  /** True if the request may have arrived before the connection ended, so that repeating it may repeat its effect. */
  readonly sent: boolean;

  constructor(url: string, cause: unknown) {
    const sent = SENT.has(codeOf(cause));
    const detail = `${sent ? 'Lost the connection to' : 'Cannot reach'} Capstan at ${url}: ${reasonOf(cause)}.`;
    const suggestion = TLS_TO_PLAIN.has(codeOf(cause))
      ? `Use ${url.replace(/^https:/, 'http:')}, or the address of a proxy that speaks TLS.`
      : sent
        ? 'See with `capstan list` whether the request arrived before you repeat it; an idempotency_key makes repeating safe.'
        : 'Start it with `npx capstan up` (`npm start` in a clone), or set CAPSTAN_URL to where it runs.';
    super(
      { type: 'urn:capstan:problem:unreachable', title: 'unreachable', status: 503, detail, code: 0, suggestion },
      { cause },
    );
    this.message = `${detail} ${suggestion}`;
    this.url = url;
    this.sent = sent;
  }

  override get retryable(): boolean {
    return !this.sent;
  }
}

const SENT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

const TLS_TO_PLAIN = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']);

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name could not be looked up',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer in time',
  ECONNRESET: 'it was closed by the other side',
  UND_ERR_SOCKET: 'it was closed by the other side',
  ERR_SSL_WRONG_VERSION_NUMBER: 'what answers there does not speak TLS',
  EPROTO: 'what answers there does not speak TLS',
  UND_ERR_CONNECT_TIMEOUT: 'no answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped half-way',
};

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';

const reasonOf = (cause: unknown): string =>
  REASONS[codeOf(cause)] ?? (cause instanceof Error && cause.message !== '' ? cause.message : 'no connection');
