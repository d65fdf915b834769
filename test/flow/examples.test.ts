import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Role } from '@capstan/contracts';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';
import { type LineProcess, startLineProcess } from '../fixtures/start-line-process.js';
import { type System, startSystem } from './start-system.js';

const EXAMPLES = fileURLToPath(new URL('packages/examples', findRepository()));

let system: System;
beforeAll(async () => {
  system = await startSystem({ name: 'postgres' });
});

/** As a reader starts it: `npx tsx <program>`, in the folder of the examples. */
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

/** Speaks OpenAI's format: gives one answer after another, and keeps what it was sent. */
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
