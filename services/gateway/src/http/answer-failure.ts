import type { Backbone } from '@capstan/backbone';
import { Failure, toProblem } from '@capstan/contracts';
import { isUnavailable, isUnstorable, storageFailure } from '@capstan/store';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { aboutOf } from './log-request.js';
import { traceIdOfRequest } from './trace-request.js';

/** The default for a 503: about how long it takes to notice that Postgres is back. */
export const RETRY_AFTER_S = '2';

/** Answers every error as problem+json with a code and a suggestion, never with a stack trace. */
export const answerFailure =
  (log: Backbone['log']) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = toFailure(error);
    request.about = aboutOf(failure.context);
    // Overload is counted in a metric. A log line for each refused request would add to the load.
    if (failure.status >= 500 && failure.kind !== 'OVERLOADED')
      log.error(
        {
          err: error,
          trace_id: traceIdOfRequest(request),
          request_id: request.id,
          ...request.about,
          tenant: request.principal?.tenant,
          path: pathOf(request),
        },
        'a request failed',
      );
    reply
      .code(failure.status)
      .headers(failure.status === 503 ? { 'retry-after': RETRY_AFTER_S, ...failure.headers } : failure.headers)
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify({ ...toProblem(failure), request_id: request.id }));
  };

/** 405 with the allowed methods if the path exists, else 404. */
export function noSuchRoute(request: FastifyRequest, methodsAt: (path: string) => string[]): Failure {
  const path = pathOf(request);
  const detail = `There is no ${request.method} ${path}.`;
  const methods = methodsAt(path);
  if (methods.length === 0) return new Failure('NO_SUCH_ROUTE', { detail });
  return new Failure('METHOD_NOT_ALLOWED', { detail, headers: { allow: methods.join(', ') } });
}

const pathOf = (request: FastifyRequest) => request.url.split('?', 1)[0] ?? request.url;

/** Any error as one that may be shown: what Postgres or a library says stays in the log. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = isFastifyError(error) ? error.code : '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new Failure('BODY_TOO_LARGE', { detail: 'The body is too large.' });
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new Failure('UNSUPPORTED_MEDIA_TYPE', { detail: 'This endpoint accepts JSON bodies only.' });
  if (isFastifyError(error) && error.statusCode !== undefined && error.statusCode < 500)
    return new Failure('INVALID_REQUEST', { detail: error.message });
  if (isUnavailable(error) || isUnstorable(error)) return storageFailure(error);
  return new Failure('INTERNAL', { detail: 'An internal error occurred.', cause: error });
}

const isFastifyError = (error: unknown): error is FastifyError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';
