import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CREATED, createFakeRows, HASH } from './fake-rows.js';

export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string };

/** Enough of the gateway's wire format to try the command on. */
export const startFakeGateway = async ({ port = 0, bodyLimit = Number.POSITIVE_INFINITY } = {}) => {
  const { rows, publicRow, move, finish, add, list, runOf } = createFakeRows();
  const seen: Seen[] = [];
  let overloaded = 0;
  let runs = 0;

  const problem = (status: number, code: number, detail: string, extra = {}) => ({
    status,
    body: {
      type: 'urn:capstan:problem:x',
      title: 'x',
      status,
      detail,
      code,
      suggestion: 'Do something else.',
      ...extra,
    },
  });
  const answer = (
    { method, path, headers, body }: Seen,
    response: ServerResponse,
  ): { status: number; body?: unknown } | null => {
    const url = new URL(path, 'http://x');
    const route = `${method} ${url.pathname}`;
    const id = url.pathname.split('/')[3] ?? '';
    if (route === 'GET /readyz' || route === 'GET /healthz') return { status: 200, body: { ok: true } };
    if (headers.authorization !== 'Bearer good') return problem(401, 6001, 'this key is not known');
    if (body.length > bodyLimit) return problem(413, 3003, 'too large');
    if (route === 'POST /v1/invocations') {
      const submission = JSON.parse(body);
      if (submission.tool_id === 'fake:deny')
        return problem(403, 1001, 'no rule allows fake:deny', { invocation_id: 'inv_denied' });
      if (submission.tool_id === 'fake:invalid')
        return problem(422, 2002, 'the inputs do not fit', {
          errors: [
            { field: 'a', message: 'is required' },
            { field: 'b', message: 'is too long' },
          ],
        });
      const row = add(submission);
      return { status: row.result === null ? 202 : 200, body: publicRow(row) };
    }
    if (route === 'POST /v1/invocations/bulk') {
      if (overloaded > 0) {
        overloaded -= 1;
        return { ...problem(503, 5003, 'busy') };
      }
      runs += 1;
      const run_id = `run_bulk${runs}`;
      const items = (JSON.parse(body).invocations as Record<string, unknown>[]).map((submission, index) => {
        if (typeof submission.tool_id !== 'string')
          return { index, status: 'invalid', problem: problem(400, 3002, 'tool_id: required').body };
        const row = add(submission, run_id);
        return { index, invocation_id: row.invocation_id, status: row.status === 'held' ? 'held' : 'queued' };
      });
      return { status: 202, body: { run_id, accepted: items.length, held: 0, denied: 0, invalid: 0, items } };
    }
    if (route === 'GET /v1/invocations') return { status: 200, body: list(url.searchParams) };
    if (route === 'POST /v1/invocations/cancel') return { status: 200, body: { count: 1234 } };
    if (url.pathname.startsWith('/v1/invocations/')) {
      const row = rows.get(id);
      if (row === undefined) return problem(404, 3004, `there is no invocation ${id}`);
      if (url.pathname.endsWith('/events')) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(row.events.slice(Number(headers['last-event-id'] ?? 0)).join(''));
        if (row.result === null) row.followers.add(response);
        else response.end();
        return null;
      }
      if (url.pathname.endsWith('/cancel')) move(row, 'canceled');
      return { status: 200, body: publicRow(row) };
    }
    if (route === 'GET /v1/runs')
      return {
        status: 200,
        body: { items: [...new Set([...rows.values()].map((row) => row.run_id))].map(runOf), next_cursor: null },
      };
    if (url.pathname.startsWith('/v1/runs/')) return { status: 200, body: runOf(id) };
    if (route === 'GET /v1/queues') {
      const queue = (runner: string, more = {}) => ({
        runner,
        paused: false,
        queued: 0,
        deferred: 0,
        held: 0,
        running: 0,
        workers: 1,
        ...more,
      });
      return {
        status: 200,
        body: {
          items: [queue('builtin', { running: 3 }), queue('exec', { paused: true, queued: 12_345, workers: 0 })],
          next_cursor: null,
        },
      };
    }
    if (method === 'POST' && url.pathname.startsWith('/v1/queues/'))
      return { status: 200, body: { runner: id, paused: url.pathname.endsWith('/pause') } };
    if (route === 'GET /v1/workers') {
      const worker = {
        worker_id: 'wrk_1',
        runners: ['exec', 'api'],
        host: 'box',
        pid: 42,
        concurrency: 16,
        status: 'alive',
        running: 3,
        started_at: CREATED,
        seen_at: CREATED,
      };
      return {
        status: 200,
        body: { items: [worker, { ...worker, worker_id: 'wrk_2', status: 'lost' }], next_cursor: null },
      };
    }
    if (route === 'GET /v1/tools') {
      const tool = {
        tool_id: 'cap:test_math:add',
        name: 'add',
        description: 'Adds two numbers. '.repeat(8),
        source: 'capability',
        runner: 'builtin',
        input_schema: { type: 'object' },
        risk: 'LOW',
        side_effects: [],
        effects: { idempotent: true, destructive: false, reversible: true, network: false },
      };
      return {
        status: 200,
        body: {
          items: [tool, { ...tool, tool_id: 'ext:git.tools:push', runner: 'exec', risk: 'HIGH' }],
          next_cursor: null,
        },
      };
    }
    if (route === 'GET /v1/tools/fake%3Atyped')
      return {
        status: 200,
        body: {
          tool_id: 'fake:typed',
          input_schema: { properties: { code: { type: 'string' }, n: { type: 'integer' } } },
        },
      };
    if (route === 'POST /v1/keys')
      return { status: 201, body: { key_id: 'key_1', key: 'cap_secret', created_at: CREATED, ...JSON.parse(body) } };
    if (route === 'GET /v1/keys')
      return {
        status: 200,
        body: {
          items: [{ key_id: 'key_1', tenant: 'default', actor: 'ci', roles: ['submit'], created_at: CREATED }],
          next_cursor: null,
        },
      };
    if (method === 'DELETE') return { status: 204 };
    if (url.pathname.startsWith('/v1/policies/'))
      return {
        status: 200,
        body: {
          name: id,
          version: 3,
          policy_hash: HASH,
          warnings: [],
          document: { boundary: 'deny_by_default' },
          text: null,
          created_at: CREATED,
        },
      };
    return problem(404, 3008, `no such route: ${route}`);
  };

  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, body: await text(request) };
    seen.push(one);
    const answered = answer(one, response);
    if (answered === null) return;
    response.writeHead(answered.status, { 'content-type': 'application/json' });
    response.end(answered.body === undefined ? '' : JSON.stringify(answered.body));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    rows,
    overload: (times: number) => {
      overloaded = times;
    },
    finish: (invocation_id: string) => {
      const row = rows.get(invocation_id);
      if (row !== undefined) finish(row);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
