import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Fatal, Held, Retryable, serveTools, type ToolWorker, tool } from '@capstan/client';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';

const REPORT = '{\n  "cost": 1.50,\n  "all": "well"\n}\n';
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const SECRET = 'sk-own-tools-canary-0123456789';

const add = tool({
  id: 'add',
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number().default(1) }),
  output: z.object({ sum: z.number() }),
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: ({ a, b }) => ({ sum: a + b }),
});

describe.each(queues)('own tools on the $name queue', (queue) => {
  const its = {} as { system: System };
  beforeAll(async () => {
    its.system = await startSystem(queue, { gateway: { lease_ms: 1500 } });
  });
  let pools = 0;
  const serve = async (
    tools: Parameters<typeof serveTools>[0]['tools'],
    over: object = {},
  ): Promise<[string, ToolWorker]> => {
    const pool = `pool-${pools++}`;
    const { admin, url } = its.system;
    const { key } = await admin.keys.create({ tenant: 'default', actor: pool, roles: ['serve'], pool });
    const worker = await serveTools({ url, key, pool, tools, onError: () => {}, ...over });
    onTestFinished(() => worker.stop());
    return [pool, worker];
  };

  test('a function gets validated inputs, and its output becomes the payload', async () => {
    const [pool, worker] = await serve([add]);
    const { admin } = its.system;
    expect(worker.tools).toMatchObject([{ tool_id: `app:${pool}:add` }]);
    expect(await admin.call(`app:${pool}:add`, { a: 2 })).toEqual({ sum: 3 });
    expect(await admin.tools.get(`app:${pool}:add`)).toMatchObject({
      runner: 'app',
      source: 'app',
      origin: pool,
      risk: 'LOW',
    });
    const sums = await Promise.all(Array.from({ length: 40 }, (_, a) => admin.call(`app:${pool}:add`, { a, b: a })));
    expect(sums).toEqual(Array.from({ length: 40 }, (_, a) => ({ sum: 2 * a })));
    expect((await admin.queues.list().page()).items.find(({ runner }) => runner === `app/${pool}`)).toMatchObject({
      workers: 1,
      queued: 0,
    });
  });

  test('logs, progress and artifacts of a function are on record, without the secret that it read', async () => {
    const { admin } = its.system;
    await admin.secrets.put('own_key', { value: SECRET });
    const [pool] = await serve([
      tool({
        id: 'report',
        description: 'Writes a report',
        input: z.object({}),
        risk: 'LOW',
        side_effects: [],
        run: async (_, { log, progress, secret, artifact, idempotency_key, actor }) => {
          const value = await secret('own_key');
          log('the key is', value);
          progress(0.5, 'half-way');
          await artifact('report.json', REPORT, 'application/json');
          return { key: value, idempotency_key, actor };
        },
      }),
    ]);
    const ended = await admin.submit({ tool_id: `app:${pool}:report`, inputs: {} }, { wait_s: 30 });
    expect(ended).toMatchObject({
      status: 'succeeded',
      // Byte for byte, although it is JSON.
      result: { artifacts: [{ name: 'report.json', media_type: 'application/json', sha256: hashOf(REPORT) }] },
    });
    expect(ended.result?.payload).toMatchObject({ idempotency_key: ended.invocation_id, actor: 'admin' });
    const lines: string[] = [];
    for await (const event of admin.events(ended.invocation_id)) if (event.event === 'log') lines.push(event.data.text);
    expect(lines.join('')).toMatch(/the key is .*\n\[50 %\] half-way\n/s);
    expect(JSON.stringify([ended, lines])).not.toContain(SECRET);
  });

  test('output beyond the limit of the policy is cut, in the payload and in the log', async () => {
    const { admin } = its.system;
    const line = 'x'.repeat(999);
    const [pool] = await serve([
      tool({
        id: 'verbose',
        description: 'Says too much',
        input: z.object({}),
        risk: 'LOW',
        side_effects: [],
        run: (_, { log }) => {
          for (let lines = 0; lines < 2000; lines++) log(line);
          return { text: 'ü'.repeat(1_000_000) };
        },
      }),
    ]);
    const ended = await admin.submit({ tool_id: `app:${pool}:verbose`, inputs: {} }, { wait_s: 30 });
    expect(ended).toMatchObject({ status: 'succeeded', result: { truncated: true } });
    const MOST = ended.decision.limits.max_output_bytes;
    expect(Buffer.byteLength(String(ended.result?.payload))).toBeLessThanOrEqual(MOST);
    expect(ended.result?.payload).toMatch(/^\{"text":"üüü/);
    let logged = '';
    for await (const event of admin.events(ended.invocation_id)) if (event.event === 'log') logged += event.data.text;
    expect(logged.length).toBeLessThanOrEqual(MOST + 1000);
    expect(logged).toMatch(/^x{999}\n/);
    expect(logged).toMatch(/\[the rest of the log is left out\]\n$/);
  });

  test('a function that throws Retryable is retried, and one that throws Fatal fails at once', async () => {
    const tried: string[] = [];
    const failing = (id: string, error: () => Error) =>
      tool({
        id,
        description: 'Fails',
        input: z.object({}),
        risk: 'LOW',
        side_effects: [],
        effects: { idempotent: true },
        run: (_, { attempt }) => {
          tried.push(`${id} ${attempt}`);
          if (attempt < 2 || id === 'fatal') throw error();
          return 'well';
        },
      });
    const [pool] = await serve([
      failing('shaky', () => new Retryable('try again')),
      failing('fatal', () => new Fatal('no such order')),
    ]);
    const { admin } = its.system;
    expect(await admin.call(`app:${pool}:shaky`, {})).toBe('well');
    await expect(admin.call(`app:${pool}:fatal`, {})).rejects.toMatchObject({
      name: 'Failed',
      detail: expect.stringContaining('no such order'),
    });
    expect(tried).toEqual(['shaky 1', 'shaky 2', 'fatal 1']);
  });

  test('a function is told to stop if its call is canceled or times out', async () => {
    const stopped: unknown[] = [];
    let began = () => {};
    const [pool] = await serve([
      tool({
        id: 'wait',
        description: 'Waits',
        input: z.object({}),
        risk: 'LOW',
        side_effects: [],
        run: async (_, { signal }) => {
          began();
          await once(signal, 'abort');
          stopped.push(signal.reason);
          signal.throwIfAborted();
        },
      }),
    ]);
    const { admin } = its.system;
    const running = new Promise<void>((resolve) => {
      began = resolve;
    });
    const { invocation_id } = await admin.submit({ tool_id: `app:${pool}:wait`, inputs: {} });
    await running;
    await admin.cancel(invocation_id);
    expect(await admin.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'canceled' });
    const late = await admin.submit({ tool_id: `app:${pool}:wait`, inputs: {}, timeout_ms: 300 }, { wait_s: 30 });
    expect(late).toMatchObject({ status: 'timed_out' });
    expect(stopped).toEqual(['cancel', 'timeout']);
  });

  test('a tool of high risk is held, and runs once it is released', async () => {
    const [pool] = await serve([{ ...add, id: 'refund', risk: 'HIGH' }]);
    const { admin } = its.system;
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'bot', roles: ['submit'] });
    const bot = its.system.clientFor(key);
    onTestFinished(() => bot.close());
    const held = await bot.call(`app:${pool}:refund`, { a: 1 }).catch((error: unknown) => error);
    expect(held).toBeInstanceOf(Held);
    const { hold_id, invocation } = held as Held;
    await admin.holds.release(hold_id ?? '', {});
    expect(await admin.wait(invocation?.invocation_id ?? '', { timeout_s: 60 })).toMatchObject({
      status: 'succeeded',
      result: { payload: { sum: 2 } },
    });
  });

  test('a worker that stops finishes its running calls and gives back the others to another worker', async () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let began = () => {};
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const run = async ({ a }: { a: number }) => {
      began();
      await opened;
      return { sum: a };
    };
    const slow = { ...add, run };
    const [pool, first] = await serve([slow], { concurrency: 1 });
    const { admin, url } = its.system;
    const calls = Promise.all([1, 2, 3].map((a) => admin.call(`app:${pool}:add`, { a })));
    await beginning;
    const stopped = first.stop();
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'other', roles: ['serve'], pool });
    const other = await serveTools({ url, key, pool, tools: [slow] });
    onTestFinished(() => other.stop());
    open();
    expect(await calls).toEqual([{ sum: 1 }, { sum: 2 }, { sum: 3 }]);
    await stopped;
    expect(
      (await admin.workers.list().page()).items.find(({ host }) => host === `${pool}/${first.worker_id}`),
    ).toMatchObject({
      status: 'stopped',
    });
  });

  test('a key with the serve role can serve its pool and nothing else', async () => {
    const { admin, clientFor, url } = its.system;
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'narrow', roles: ['serve'], pool: 'narrow' });
    const narrow = clientFor(key);
    onTestFinished(() => narrow.close());
    await expect(narrow.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } })).rejects.toMatchObject({
      status: 403,
    });
    await expect(narrow.tools.list().page()).rejects.toMatchObject({ status: 403 });
    await expect(serveTools({ url, key, pool: 'other', tools: [add] })).rejects.toMatchObject({ status: 403 });
    await expect(admin.keys.create({ tenant: 'default', actor: 'x', roles: ['serve'] })).rejects.toMatchObject({
      status: 400,
    });
    await expect(
      admin.keys.create({ tenant: 'default', actor: 'x', roles: ['serve', 'submit'], pool: 'x' }),
    ).rejects.toMatchObject({ status: 400 });
  });

  test('an admin of another tenant cannot let anybody serve a pool, which gets the calls of every tenant', async () => {
    const { admin, clientFor } = its.system;
    const { key } = await admin.keys.create({ tenant: 'globex', actor: 'gil', roles: ['admin'] });
    const gil = clientFor(key);
    onTestFinished(() => gil.close());
    const wanted = { tenant: 'globex', actor: 'thief', roles: ['serve' as const], pool: 'pool-0' };
    await expect(gil.keys.create(wanted)).rejects.toMatchObject({ status: 403, code: 6003 });
  });

  test('tools with a schema that cannot be used are refused, and the error names it', async () => {
    const { url, admin } = its.system;
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'bad', roles: ['serve'], pool: 'bad' });
    const tools = [add, { ...add, id: 'sub', input_schema: { type: 'object', properties: { a: { type: 'nmber' } } } }];
    await expect(serveTools({ url, key, pool: 'bad', tools })).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('tools.1.input_schema: '),
    });
  });

  test('calls go to workers of the version that they were admitted for, as long as there are any', async () => {
    const { admin, url } = its.system;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = ({ a, b }: { a: number; b: number }) => released.then(() => ({ sum: a + b }));
    const old = { ...add, run };
    const [pool] = await serve([old], { version: 'one', concurrency: 1 });
    const before = [1, 2, 3].map((a) => admin.call(`app:${pool}:add`, { a }));
    await eventually(async () =>
      (await admin.list({ status: 'running' }).page()).items.some(({ tool_id }) => tool_id === `app:${pool}:add`),
    );
    const { key } = await admin.keys.create({ tenant: 'default', actor: 'two', roles: ['serve'], pool });
    const renamed = tool({ ...add, input: z.strictObject({ left: z.number() }), run: ({ left }) => ({ sum: left }) });
    const second = await serveTools({ url, key, pool, tools: [renamed], version: 'two', onError: () => {} });
    onTestFinished(() => second.stop());
    expect(await admin.call(`app:${pool}:add`, { left: 7 })).toEqual({ sum: 7 });
    release();
    expect(await Promise.all(before)).toEqual([{ sum: 2 }, { sum: 3 }, { sum: 4 }]);
    const audit = await admin.audit.list({ event: 'tool.change' }).page();
    expect(audit.items).toContainEqual(expect.objectContaining({ subject: `app:${pool}:add` }));
  });
});
