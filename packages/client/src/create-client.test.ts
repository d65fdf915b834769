import { text } from 'node:stream/consumers';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from './create-client.js';
import { CapstanError } from './errors.js';
import { LightPool } from './light-undici.js';
import { type Handler, serve } from './testing/serve.js';
import { UnreachableError } from './unreachable-error.js';

const cleanup: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of cleanup.splice(0)) await each();
});

const connect = async (
  handler: Handler,
  path = '',
): Promise<{ client: Client } & Awaited<ReturnType<typeof serve>>> => {
  const server = await serve(handler);
  const client = createClient({ url: server.url + path, key: 'k_1' });
  cleanup.push(client.close, server.close);
  return { client, ...server };
};

const failure = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  );

describe('an artifact', () => {
  it('that is not what its hash says ends with an error', async () => {
    const { client } = await connect(() => ({ type: 'text/plain', body: 'changed' }));
    const sha256 = 'd67e2e944994496c8d8ec76eed0cf9f09679448d584b532bebf941852a37f5ed';
    expect(await text(await client.artifacts.read(sha256))).toBe('changed');
    expect(await failure(text(await client.artifacts.read('0'.repeat(64))))).toMatchObject({
      message: expect.stringContaining('was altered'),
    });
  });
});

describe('a request', () => {
  it('carries the key, the method, the path and the body of the interface', async () => {
    const { client, seen } = await connect(() => ({ body: {} }));
    await client.submit({ tool_id: 'cap:x:y', inputs: { a: 1 } });
    await client.submitBulk([{ tool_id: 'cap:x:y' }]);
    await client.get('inv_1');
    await client.cancel('inv_1');
    await client.redrive('inv_1');
    await client.resolve('inv_1', { outcome: 'failed', comment: 'seen' });
    await client.cancelMany({ tool_id: 'cap:x:y' });
    await client.redriveMany({ status: ['failed'] });
    await client.runs.get('run_1');
    await client.queues.pause('exec');
    await client.queues.resume('exec');
    await client.keys.create({ tenant: 't', actor: 'a', roles: ['submit'] });
    await client.keys.delete('key_1');
    await client.policies.get('default');
    await client.policies.put('default', { boundary: 'deny_by_default' });
    await client.policies.put('default', 'boundary: deny_by_default\n');
    await client.tools.get('cap:x:y');
    await client.health();
    expect(seen.map(({ method, path, body }) => `${method} ${path} ${body}`.trim())).toEqual([
      'POST /v1/invocations {"tool_id":"cap:x:y","inputs":{"a":1}}',
      'POST /v1/invocations/bulk {"invocations":[{"tool_id":"cap:x:y"}]}',
      'GET /v1/invocations/inv_1',
      'POST /v1/invocations/inv_1/cancel',
      'POST /v1/invocations/inv_1/redrive',
      'POST /v1/invocations/inv_1/resolve {"outcome":"failed","comment":"seen"}',
      'POST /v1/invocations/cancel {"tool_id":"cap:x:y"}',
      'POST /v1/invocations/redrive {"status":["failed"]}',
      'GET /v1/runs/run_1',
      'POST /v1/queues/exec/pause',
      'POST /v1/queues/exec/resume',
      'POST /v1/keys {"tenant":"t","actor":"a","roles":["submit"]}',
      'DELETE /v1/keys/key_1',
      'GET /v1/policies/default',
      'PUT /v1/policies/default {"boundary":"deny_by_default"}',
      'PUT /v1/policies/default boundary: deny_by_default',
      'GET /v1/tools/cap%3Ax%3Ay',
      'GET /healthz',
    ]);
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer k_1')).toBe(true);
    expect(seen[0]?.headers['content-type']).toBe('application/json');
    expect(seen[15]?.headers['content-type']).toBe('application/yaml');
  });

  it('keeps a path in front of the interface', async () => {
    const { client, seen } = await connect(() => ({ body: {} }), '/capstan/');
    await client.get('inv_1');
    expect(seen[0]?.path).toBe('/capstan/v1/invocations/inv_1');
  });

  it('takes an answer without a body', async () => {
    const { client } = await connect((_, response) => void response.writeHead(204).end());
    await expect(client.keys.delete('key_1')).resolves.toBeNull();
  });

  it('goes over connections that are kept alive', async () => {
    const sockets = new Set<unknown>();
    const { client } = await connect((_, response) => {
      sockets.add(response.socket);
      return { body: {} };
    });
    for (let turn = 0; turn < 20; turn += 1) await client.get('inv_1');
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('uses the pool of undici itself', () => {
    expect(LightPool).toBe(Pool);
  });

  it('can be aborted', async () => {
    const { client } = await connect(() => undefined);
    const controller = new AbortController();
    const pending = failure(client.get('inv_1', { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await pending).toMatchObject({ message: 'enough' });
  });
});

describe('a list', () => {
  const pages: Handler = ({ path }) => ({
    body: path.includes('cursor=c2') ? { items: [3], next_cursor: null } : { items: [1, 2], next_cursor: 'c2' },
  });

  it('goes over all pages, item by item', async () => {
    const { client, seen } = await connect(pages);
    const items: unknown[] = [];
    for await (const item of client.list({ status: ['failed', 'timed_out'], label: 'team:a', limit: 2 }))
      items.push(item);
    expect(items).toEqual([1, 2, 3]);
    expect(seen.map(({ path }) => path)).toEqual([
      '/v1/invocations?status=failed&status=timed_out&label=team%3Aa&limit=2',
      '/v1/invocations?status=failed&status=timed_out&label=team%3Aa&limit=2&cursor=c2',
    ]);
  });

  it('asks for nothing more when one page is wanted', async () => {
    const { client, seen } = await connect(pages);
    expect(await client.runs.list({ cursor: 'c2' }).page()).toEqual({ items: [3], next_cursor: null });
    expect(await client.workers.list().page()).toMatchObject({ next_cursor: 'c2' });
    expect(seen.map(({ path }) => path)).toEqual(['/v1/runs?cursor=c2', '/v1/workers']);
  });

  it('leaves out what was not given', async () => {
    const { client, seen } = await connect(pages);
    await client.tools.list({ q: undefined, risk_max: 'LOW', exclude_side_effects: ['payments', 'fs.write'] }).page();
    expect(seen[0]?.path).toBe('/v1/tools?risk_max=LOW&exclude_side_effects=payments&exclude_side_effects=fs.write');
  });
});

describe('an error', () => {
  const problem = {
    type: 'urn:capstan:problem:policy_denied',
    title: 'policy denied',
    status: 403,
    detail: 'no rule allows cap:x:y',
    code: 1001,
    suggestion: 'Ask for a rule.',
    invocation_id: 'inv_9',
  };

  it('is the problem that the gateway answered', async () => {
    const { client } = await connect(() => ({ status: 403, type: 'application/problem+json', body: problem }));
    const error = await failure(client.submit({ tool_id: 'cap:x:y' }));
    expect(error).toBeInstanceOf(CapstanError);
    expect(error).toMatchObject({
      message: problem.detail,
      status: 403,
      code: 1001,
      detail: problem.detail,
      suggestion: 'Ask for a rule.',
      problem,
    });
  });

  it('says when to try again', async () => {
    const { client } = await connect(() => ({ status: 429, headers: { 'retry-after': '7' }, body: problem }));
    expect(await failure(client.get('inv_1'))).toMatchObject({ retry_after_s: 7 });
  });

  it('is also made of an answer that something else wrote', async () => {
    const { client, url } = await connect(() => ({ status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }));
    expect(await failure(client.get('inv_1'))).toMatchObject({
      status: 502,
      code: 0,
      detail: `${url} answered HTTP 502`,
    });
  });

  it('names an address that does not speak JSON', async () => {
    const { client } = await connect(() => ({ type: 'text/html', body: '<h1>It works!</h1>' }));
    expect(await failure(client.get('inv_1'))).toMatchObject({ detail: expect.stringContaining('not JSON') });
  });

  it('says which address could not be reached and how to start it', async () => {
    const { client, url, close } = await connect(() => ({}));
    await close();
    const error = await failure(client.get('inv_1'));
    expect(error).toBeInstanceOf(UnreachableError);
    expect(error).toMatchObject({
      message: `Cannot reach Capstan at ${url}: connection refused. Start it with \`npx capstan up\` (\`npm start\` in a clone), or set CAPSTAN_URL to where it runs.`,
      sent: false,
    });
  });

  it('says that a request may have arrived when its connection broke', async () => {
    const { client } = await connect((_, response) => void response.socket?.destroy());
    expect(await failure(client.submit({ tool_id: 'cap:x:y' }))).toMatchObject({
      message: expect.stringContaining('Lost the connection'),
      sent: true,
    });
  });
});

describe('readiness', () => {
  it('is a yes, or a no when something it needs is missing', async () => {
    const { client } = await connect((_, __, nth) => ({ status: nth === 1 ? 200 : 503, body: {} }));
    expect([await client.ready(), await client.ready()]).toEqual([true, false]);
  });
});
