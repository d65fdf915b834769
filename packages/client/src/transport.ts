import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { LightPool, sendRequest } from './light-undici.js';
import { readJson } from './read-json.js';
import { readProblem } from './read-problem.js';
import { UnreachableError } from './unreachable-error.js';

export type TransportOptions = {
  url: string;
  key?: string | undefined;
  /** An undici dispatcher to use instead of the client's own keep-alive pool, such as a proxy agent or a mock. The caller closes it. */
  dispatcher?: Dispatcher | undefined;
  /** Connections for requests. Event streams have their own, so that open streams never delay a request. */
  connections?: number | undefined;
};

type QueryValue = string | number | boolean | undefined | readonly string[];

export type RequestOptions = {
  query?: Readonly<Record<string, QueryValue>>;
  body?: unknown;
  /** A body that is sent unchanged. */
  text?: { content: string | Readable; type: string };
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
  /** How long the gateway may delay the response, in addition to the usual timeout. */
  wait_s?: number | undefined;
};

export type Transport = {
  url: string;
  json<T>(method: Dispatcher.HttpMethod, path: string, options?: RequestOptions): Promise<T>;
  /** Opens an event stream. Returns null if the gateway says that no more events follow. */
  stream(path: string, options?: RequestOptions & { method?: Dispatcher.HttpMethod }): Promise<Readable | null>;
  close(): Promise<void>;
};

const ANSWER_MS = 60_000;
/** Longer than any reasonable heartbeat interval. A stream that is silent for this long is reopened. */
const STREAM_SILENCE_MS = 90_000;
const DEFAULT_CONNECTIONS = 256;

export const openTransport = (options: TransportOptions): Transport => {
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/+$/, '');
  const own: Dispatcher[] = [];
  const open = (connections: number | null): Dispatcher => {
    const pool = new LightPool(base.origin, { connections });
    own.push(pool);
    return pool;
  };
  let requests = options.dispatcher;
  let streams = options.dispatcher;

  const send = async (
    dispatcher: Dispatcher,
    method: Dispatcher.HttpMethod,
    path: string,
    request: RequestOptions,
    bodyTimeout: number,
  ): Promise<Dispatcher.ResponseData> => {
    const content = request.text?.content ?? (request.body === undefined ? null : JSON.stringify(request.body));
    const headers: Record<string, string> = { 'user-agent': 'capstan-client', ...request.headers };
    if (options.key !== undefined) headers.authorization = `Bearer ${options.key}`;
    if (content !== null) headers['content-type'] = request.text?.type ?? 'application/json';
    try {
      return await sendRequest(dispatcher, {
        origin: base.origin,
        path: `${prefix}${path}${toQuery(request.query)}`,
        method,
        headers,
        body: content,
        headersTimeout: ANSWER_MS + (request.wait_s ?? 0) * 1000,
        bodyTimeout,
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
    } catch (error) {
      throw request.signal?.aborted ? error : new UnreachableError(options.url, error);
    }
  };

  return {
    url: options.url,

    async json<T>(method: Dispatcher.HttpMethod, path: string, request: RequestOptions = {}): Promise<T> {
      requests ??= open(options.connections ?? DEFAULT_CONNECTIONS);
      const response = await send(requests, method, path, request, ANSWER_MS);
      return readJson<T>(response, options.url, request.signal);
    },

    async stream(path, { method = 'GET', ...request } = {}) {
      streams ??= open(null);
      const response = await send(streams, method, path, request, STREAM_SILENCE_MS);
      if (response.statusCode >= 400) throw await readProblem(response, options.url);
      if (response.statusCode !== 204) return response.body;
      await response.body.dump();
      return null;
    },

    async close() {
      await Promise.all(own.map((dispatcher) => dispatcher.destroy()));
    },
  };
};

const toQuery = (query: RequestOptions['query'] = {}): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of typeof value === 'object' ? value : [value]) params.append(name, String(each));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
};
