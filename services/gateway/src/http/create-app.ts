import type { Backbone } from '@capstan/backbone';
import { Failure } from '@capstan/contracts';
import Fastify, { type FastifyInstance } from 'fastify';
import { answerFailure, noSuchRoute } from './answer-failure.js';

export function createApp(log: Backbone['log'], body_limit: number): FastifyInstance {
  const answer = answerFailure(log);
  const app = Fastify({
    // Fastify would make a child logger for every request; what there is to say is said in answerFailure.
    logger: false,
    bodyLimit: body_limit,
    // Ids of sessions and tools may be long; anything longer than this is no id of ours.
    routerOptions: { maxParamLength: 1024 },
    forceCloseConnections: 'idle',
    frameworkErrors: answer,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/(.*\+)?json/i, { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text.length === 0 ? undefined : JSON.parse(text.toString()));
    } catch (error) {
      done(new Failure('MALFORMED_JSON', { detail: error instanceof Error ? error.message : 'not JSON' }), undefined);
    }
  });
  app.addContentTypeParser(/^(application|text)\/(x-)?yaml/i, { parseAs: 'string' }, (_request, text, done) => {
    done(null, text);
  });
  app.setErrorHandler(answer);
  app.setNotFoundHandler((request, reply) => answer(noSuchRoute(request), request, reply));
  return app;
}
