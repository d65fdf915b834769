import type { Backbone } from '@capstan/backbone';
import { Failure } from '@capstan/contracts';
import Fastify, { type FastifyInstance } from 'fastify';
import { answerClientError } from './answer-client-error.js';
import { answerFailure, noSuchRoute } from './answer-failure.js';
import { methodsAt } from './methods-at.js';
import type { Route } from './route.js';

/** Nobody keeps a connection by sending a body drop by drop. */
const REQUEST_MS = 300_000;

export function createApp(log: Backbone['log'], routes: Route[], body_limit: number): FastifyInstance {
  const answer = answerFailure(log);
  const methods = methodsAt(routes);
  const app = Fastify({
    // Fastify would make a child logger for every request; what there is to say is said in answerFailure.
    logger: false,
    bodyLimit: body_limit,
    requestTimeout: REQUEST_MS,
    // Ids of sessions and tools may be long; anything longer than this is no id of ours.
    routerOptions: { maxParamLength: 1024 },
    forceCloseConnections: 'idle',
    frameworkErrors: answer,
    clientErrorHandler: answerClientError,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(.*\+)?json\s*(;|$)/i, { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text.length === 0 ? undefined : JSON.parse(text.toString()));
    } catch (error) {
      done(new Failure('MALFORMED_JSON', { detail: error instanceof Error ? error.message : 'not JSON' }), undefined);
    }
  });
  app.addContentTypeParser(/^(application|text)\/(x-)?yaml\s*(;|$)/i, { parseAs: 'string' }, (_request, text, done) => {
    done(null, text);
  });
  app.setErrorHandler(answer);
  app.setNotFoundHandler((request, reply) => answer(noSuchRoute(request, methods), request, reply));
  return app;
}
