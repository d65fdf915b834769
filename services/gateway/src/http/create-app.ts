import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Backbone } from '@capstan/backbone';
import { Failure, JsonError, parseJson } from '@capstan/contracts';
import type { FastifyRequest } from 'fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { nanoid } from 'nanoid';
import type { AnswerPage } from '../console/serve-console.js';
import { answerClientError, answerLateBody } from './answer-client-error.js';
import { answerFailure, noSuchRoute } from './answer-failure.js';
import type { Route } from './route.js';
import { traceRequests } from './trace-request.js';

/** Limits clients that send headers slowly to keep a connection open. */
const HEADERS_MS = 15_000;
const BODY_MS = 30_000;
/** The interval at which Node checks for late headers. */
const LOOK_MS = 5000;

export type AppOptions = { body_limit: number; body_ms?: number | undefined };

/** For paths without a route: a page of the console, or an unknown path. */
export function answerUnknown(
  app: FastifyInstance,
  log: Backbone['log'],
  routes: Route[],
  answerPage: AnswerPage,
): void {
  const answer = answerFailure(log);
  const methods = methodsAt(routes);
  app.setNotFoundHandler((request, reply) => {
    if (!answerPage(request, reply)) answer(noSuchRoute(request, methods), request, reply);
  });
}

export function createApp(log: Backbone['log'], options: AppOptions): FastifyInstance {
  const { body_limit, body_ms = BODY_MS } = options;
  const answer = answerFailure(log);
  const app = Fastify({
    // Fastify would create a child logger for every request. Errors are logged by answerFailure.
    logger: false,
    bodyLimit: body_limit,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: LOOK_MS },
    // Ids of sessions and tools may be long, but not longer than this.
    routerOptions: { maxParamLength: 1024 },
    genReqId: requestIdOf,
    // Requests that arrive during shutdown are answered as usual, with `Connection: close`.
    return503OnClosing: false,
    frameworkErrors: answer,
    clientErrorHandler: answerClientError,
  });
  app.addHook('onRequest', async ({ id }, reply) => void reply.header('x-request-id', id));
  traceRequests(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(.*\+)?json\s*(;|$)/i, { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text.length === 0 ? undefined : parseJson(text.toString()));
    } catch (error) {
      done(malformed(error), undefined);
    }
  });
  app.addContentTypeParser(/^(application|text)\/(x-)?yaml\s*(;|$)/i, { parseAs: 'string' }, (_request, text, done) => {
    done(null, text);
  });
  app.addHook('onRequest', async (request) => limitBody(request, body_ms, answerLateBody));
  app.setErrorHandler(answer);
  return app;
}

/** The caller's id if it is safe to log; otherwise a new one. */
function requestIdOf({ headers }: { headers: IncomingHttpHeaders }): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[\w.:@/+=-]{1,128}$/.test(sent) ? sent : `req_${nanoid()}`;
}

function malformed(error: unknown): Failure {
  const message = error instanceof Error ? error.message : 'not JSON';
  const place = error instanceof JsonError ? error.place : undefined;
  return new Failure('MALFORMED_JSON', {
    detail: message,
    ...(place ? { context: { errors: [{ field: '', message, ...place }] } } : {}),
  });
}

/** A slower sender is assumed to be holding the connection open on purpose. */
const MIN_BYTES_PER_SECOND = 65_536;

/**
 * Ends requests whose body arrives too slowly: a body may take `body_ms`, plus the time that its bytes take at the minimum rate. So
 * a large upload gets the time it needs, and one byte a second is cut off shortly after `body_ms`.
 */
function limitBody({ raw }: FastifyRequest, body_ms: number, end: (socket: Socket) => void): void {
  // Most bodies arrive together with their headers and need no timer.
  if (raw.complete) return;
  if (raw.headers['content-length'] === undefined && raw.headers['transfer-encoding'] === undefined) return;
  const { socket } = raw;
  const began = performance.now();
  const read_before = socket.bytesRead;
  const look = (): void => {
    if (raw.complete || socket.destroyed) return;
    const explained_ms = ((socket.bytesRead - read_before) / MIN_BYTES_PER_SECOND) * 1000;
    const left_ms = body_ms + explained_ms - (performance.now() - began);
    if (left_ms <= 0) end(socket);
    else timer = setTimeout(look, left_ms).unref();
  };
  let timer = setTimeout(look, body_ms).unref();
  raw.once('close', () => clearTimeout(timer));
}

/** The methods that a path supports. Fastify's router can only look up one method at a time. */
function methodsAt(routes: Route[]): (path: string) => string[] {
  const patterns = routes.map(({ method, path }) => ({ methods: methodsOf(method), pattern: patternOf(path) }));
  return (path) => [...new Set(patterns.flatMap(({ methods, pattern }) => (pattern.test(path) ? methods : [])))].sort();
}

/** Fastify answers HEAD for every GET route. */
const methodsOf = (method: Route['method']): string[] => (method === 'GET' ? ['GET', 'HEAD'] : [method]);

/** `{id}` matches one segment; `*` at the end matches any number of them. */
function patternOf(path: string): RegExp {
  const source = path
    .replaceAll('.', '\\.')
    .replace(/\*$/, '.*')
    .replace(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${source}$`);
}
