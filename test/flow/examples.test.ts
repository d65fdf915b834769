import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Role } from '@capstan/contracts';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { findRepository } from '../fixtures/find-repository.js';
import { hardestQueue } from '../fixtures/queues.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

const EXAMPLES = fileURLToPath(new URL('packages/examples', findRepository()));

let system: System;

/** Starts an example as a reader would: `npx tsx <program>`, in the folder of the examples. */
async function start(program: string, key: string, env: Record<string, string> = {}): Promise<LineProcess> {
  const started = await startLineProcess({
    command: [process.execPath, '--import', 'tsx', program],
    env: { PATH: process.env.PATH ?? '', CAPSTAN_URL: system.url, CAPSTAN_API_KEY: key, ...env },
    cwd: EXAMPLES,
  });
  onTestFinished(() => started.kill('SIGKILL'));
  return started;
}

const keyFor = async (actor: string, role: Role, pool?: string): Promise<string> => {
  const { key } = await system.admin.keys.create({
    tenant: 'default',
    actor,
    roles: [role],
    ...(pool === undefined ? {} : { pool }),
  });
  return key;
};

type Sent = { messages: { role: string; content: string }[]; tools: { function: { name: string } }[] };

/** A model in OpenAI's format: replies with the given answers in turn, and records the requests. */
async function startModel(answers: object[]) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    sent.push((await json(request)) as Sent);
    const message = { role: 'assistant', ...answers[sent.length - 1] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ index: 0, message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const calling = (id: string, name: string, args: object) => ({
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

describe.each(hardestQueue)('on the $name queue, the example', (queue) => {
  beforeAll(async () => {
    system = await startSystem(queue);
  });

  test('agent-loop: a refund that a model asks for is held, and its result reaches the model once a person releases it', async () => {
    const worker = await start('agent-loop/tools.ts', await keyFor('shop', 'serve', 'shop'));
    await worker.waitForLine(/serving app:shop:find_order, app:shop:refund/);
    const model = await startModel([
      calling('call_1', 'app_shop_find_order', { order: 'A-17' }),
      calling('call_2', 'app_shop_refund', { order: 'A-17', amount: 20 }),
      { content: 'Your 20 euros are on their way.' },
    ]);
    const agent = await start('agent-loop/agent.ts', await keyFor('agent', 'submit'), { MODEL_URL: model.url });

    const [, hold_id = ''] = await agent.waitForLine(/capstan release (\S+)/);
    expect(model.sent).toHaveLength(2);
    await system.admin.holds.release(hold_id, {});

    expect(await agent.exited).toMatchObject({ code: 0 });
    expect(agent.stdout.at(-1)).toBe('Your 20 euros are on their way.');
    expect(model.sent[0]?.tools.map((tool) => tool.function.name)).toEqual(['app_shop_find_order', 'app_shop_refund']);
    const results = model.sent[2]?.messages.filter(({ role }) => role === 'tool');
    expect(results?.map(({ content }) => JSON.parse(content))).toEqual([
      { item: 'teapot', paid: 20, state: 'delivered' },
      { refund_id: 'refund-1' },
    ]);
    const { items } = await system.admin.list({ tool_id: 'app:shop:refund' }).page();
    expect(items).toHaveLength(1);

    worker.kill('SIGTERM');
    expect(await worker.exited).toMatchObject({ code: 0 });
  });

  test('batch: 1,000 documents are processed, and those that failed are listed', async () => {
    const batch = await start('batch/batch.ts', ADMIN_KEY);
    const [, run_id = ''] = await batch.waitForLine(/1000 of 1000 accepted as (\S+)/);
    expect(await batch.exited).toMatchObject({ code: 0 });
    expect(batch.stdout).toContain('996 done, 4 failed, of 1000');
    expect(batch.stdout).toContain('50600 words');
    const failures = batch.stdout.filter((line) => line.includes(' failed: '));
    expect(failures.map((line) => line.split(' failed: ')[0]).sort()).toEqual([
      'document-1000',
      'document-250',
      'document-500',
      'document-750',
    ]);
    expect(failures[0]).toMatch(/document-\d+ is empty/);
    expect(await system.admin.runs.get(run_id)).toMatchObject({ completed_steps: 996, failed_steps: 4 });
  });

  test('nightly-plan: the plan is started by its schedule and leaves a report', async () => {
    const nightly = await start('nightly-plan/nightly.ts', ADMIN_KEY, { CRON: '* * * * * *' });
    const [, schedule_id = ''] = await nightly.waitForLine(/(\S+) starts next at \S+Z/);
    const run_id = await eventually(
      async () => (await system.admin.schedules.get(schedule_id)).last.at(-1)?.run_id ?? false,
    );
    await system.admin.schedules.remove(schedule_id);
    expect(await system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      name: 'nightly-report',
      status: 'completed',
      completed_steps: 5,
    });
    const { items } = await system.admin.runs.steps(run_id).page();
    expect(items.at(-1)).toMatchObject({
      tool_id: 'app:reports:write_report',
      result: { payload: { total: 42 }, artifacts: [{ name: 'orders.csv', media_type: 'text/csv' }] },
    });
    nightly.kill('SIGTERM');
    expect(await nightly.exited).toMatchObject({ code: 0 });
  });

  test('multi-tenant: each tenant has the tools and call limits of its plan, and sees only its own calls', async () => {
    const backend = await start('multi-tenant/backend.ts', ADMIN_KEY, { PORT: '0' });
    const [, port] = await backend.waitForLine(/listening on port (\d+)/);
    const ask = async (tenant: string, path: string, init: RequestInit = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers: { 'x-tenant': tenant } });
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    const run = (tenant: string, tool: string) =>
      ask(tenant, '/', {
        method: 'POST',
        body: JSON.stringify({ tool_id: `cap:test_math:${tool}`, inputs: { a: 6, b: 3 } }),
      });

    expect(await run('nobody', 'add')).toMatchObject({ status: 401 });
    expect(await run('acme', 'divide')).toMatchObject({ status: 403 });
    const quotient = await run('globex', 'divide');
    expect(quotient).toMatchObject({ status: 200, body: { status: 'succeeded', result: { payload: { result: 2 } } } });

    const { invocation_id } = quotient.body as { invocation_id: string };
    expect(await ask('globex', `/${invocation_id}`)).toMatchObject({ status: 200, body: { invocation_id } });
    expect(await ask('acme', `/${invocation_id}`)).toMatchObject({ status: 404 });

    for (let call = 0; call < 3; call++) expect(await run('acme', 'add')).toMatchObject({ status: 200 });
    const beyond = await run('acme', 'add');
    expect(beyond.status).toBe(429);
    expect(Number(beyond.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await run('globex', 'add')).toMatchObject({ status: 200 });
  });
});
