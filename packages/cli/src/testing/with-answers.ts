import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';

class Refusal {
  constructor(readonly body: { status: number }) {}
}

/** An answer that is a problem, with the status that it names. */
export const problem = (body: { status: number; [member: string]: unknown }): unknown => new Refusal(body);

/**
 * Starts a gateway for the test file that records requests and answers each `GET /path` with the result of `answerTo`. A string is sent unchanged,
 * and undefined means no content.
 */
export const withAnswers = (answerTo: (request: string) => unknown) => {
  const seen: { request: string; body: unknown }[] = [];
  const env: Record<string, string> = { CAPSTAN_API_KEY: 'good' };
  const gateway = createServer((asked, response) => {
    void text(asked).then((body) => {
      const request = `${asked.method} ${asked.url}`;
      seen.push({ request, body: body === '' ? null : JSON.parse(body) });
      const answer = answerTo(request);
      if (answer === undefined) response.writeHead(204).end();
      else if (typeof answer === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(answer);
      else if (answer instanceof Refusal)
        response
          .writeHead(answer.body.status, { 'content-type': 'application/problem+json' })
          .end(JSON.stringify(answer.body));
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    env.CAPSTAN_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });
  afterAll(() => void gateway.close());
  beforeEach(() => {
    seen.length = 0;
  });
  return { seen, env };
};
