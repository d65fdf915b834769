import type { Backbone } from '@capstan/backbone';
import { isObject } from '@capstan/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { traceIdOfRequest } from './trace-request.js';

/** The call and the run that a request is about, if it is about one. */
type About = { invocation_id?: string; run_id?: string };

/** Finds what a request is about in its answer, so that its line can be joined with those of workers. */
export function noteAnswers(app: FastifyInstance): void {
  app.addHook('preSerialization', (request, _reply, answer, done) => {
    request.about = aboutOf(answer);
    done(null, answer);
  });
}

export function aboutOf(answer: unknown): About {
  const { invocation_id, run_id } = isObject(answer) ? answer : {};
  return {
    ...(typeof invocation_id === 'string' ? { invocation_id } : {}),
    ...(typeof run_id === 'string' ? { run_id } : {}),
  };
}

/** Logs 4xx answers at `info` and all others at `debug`. Errors of ours are logged by answerFailure. */
export function logRequest(
  log: Backbone['log'],
  request: FastifyRequest,
  { statusCode, elapsedTime }: FastifyReply,
): void {
  const level = statusCode >= 400 && statusCode < 500 ? 'info' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  log[level](
    {
      trace_id: traceIdOfRequest(request),
      request_id: request.id,
      ...request.about,
      tenant: request.principal?.tenant,
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: statusCode,
      duration_ms: Math.round(elapsedTime * 1000) / 1000,
    },
    'request answered',
  );
}

declare module 'fastify' {
  interface FastifyRequest {
    about?: About;
  }
}
