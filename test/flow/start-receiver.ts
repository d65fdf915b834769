import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';

export type Got = {
  headers: IncomingHttpHeaders;
  body: string;
  json: { type: string; text?: string; data: Record<string, unknown> };
};

/** A webhook endpoint that records its requests and answers as the test says. */
export async function startReceiver() {
  const got: Got[] = [];
  const answers: number[] = [];
  const receiver = { got, answers, otherwise: 204, url: '' };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      got.push({ headers: request.headers, body, json: JSON.parse(body) });
      response.writeHead(answers.shift() ?? receiver.otherwise).end('noted');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}
