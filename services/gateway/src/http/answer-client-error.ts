import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure, toProblem } from '@capstan/contracts';

/** Answers malformed, oversized and slow requests. They never became a request, so the response is written to the socket by hand. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = toProblem(toFailure(error.code));
  const body = JSON.stringify(problem);
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ];
  socket.end(lines.join('\r\n'));
}

/** For a body that does not arrive, or arrives too slowly. */
export function answerLateBody(socket: Socket): void {
  answerClientError(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
  socket.destroySoon();
}

function toFailure(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Failure('HEADERS_TOO_LARGE', { detail: 'The headers are larger than 16 KiB.' });
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Failure('REQUEST_TIMEOUT', { detail: 'The request did not arrive in time.' });
  return new Failure('INVALID_REQUEST', {
    detail: 'The request is not valid HTTP.',
    suggestion: 'Send a valid HTTP/1.1 request.',
  });
}
