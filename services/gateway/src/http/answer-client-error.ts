import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure, toProblem } from '@capstan/contracts';

/** What is no HTTP, or too much or too slow of it, is answered by hand: there is no request yet. */
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

/** The body does not come, or comes too slowly to be meant. */
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
    detail: 'This is not HTTP.',
    suggestion: 'Send a valid HTTP/1.1 request.',
  });
}
