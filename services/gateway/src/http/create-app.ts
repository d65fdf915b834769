import type { IncomingHttpHeaders } from 'node:http';
import type { Backbone } from '@capstan/backbone';
import { Failure, JsonError, parseJson } from '@capstan/contracts';
import Fastify, { type FastifyInstance } from 'fastify';
import { nanoid } from 'nanoid';
import type { AnswerPage } from '../console/serve-console.js';
import { answerClientError, answerLateBody } from './answer-client-error.js';
import { answerFailure, noSuchRoute } from './answer-failure.js';
import { limitBody } from './body-deadline.js';
import { methodsAt } from './methods-at.js';
import type { Route } from './route.js';
import { traceRequests } from './trace-request.js';

/** Nobody keeps a connection by sending its headers, or a body, drop by drop. */
const HEADERS_MS = 15_000;
const BODY_MS = 30_000;
/** How often Node looks for connections whose headers are late. */
const LOOK_MS = 5000;

export type AppOptions = { body_limit: number; body_ms?: number | undefined };

/** What no route answers is a page of the console, or unknown. */
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
    // Fastify would make a child logger for every request; what there is to say is said in answerFailure.
    logger: false,
    bodyLimit: body_limit,
    http: { headersTimeout: HEADERS_MS, connectionsCheckingInterval: LOOK_MS },
    // Ids of sessions and tools may be long; anything longer than this is no id of ours.
    routerOptions: { maxParamLength: 1024 },
    genReqId: requestIdOf,
    // What arrives while it stops is answered as ever, with `Connection: close`.
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

/** The caller's, if it is one that a log can carry; else one of ours. */
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
