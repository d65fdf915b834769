import { expect, test } from 'vitest';
import { z } from 'zod';
import { Fatal } from './failures.js';
import { serveTools } from './serve-tools.js';
import { tool } from './tool.js';

const price = tool({
  id: 'price',
  description: 'The price of an order',
  input: z.object({ order: z.string(), currency: z.string().default('EUR') }),
  output: z.object({ price: z.string() }),
  run: async ({ order, currency }, { log, progress, secret, artifact, actor, attempt }) => {
    if (order === 'none') throw new Fatal('there is no such order');
    if (order === 'odd') return { price: JSON.parse('3') };
    log('asking as', actor, { attempt });
    progress(0.5, 'half-way');
    await artifact('receipt.txt', `key ${await secret('shop_key')}`, 'text/plain');
    return { price: `3 ${currency}` };
  },
});

const secrets = { shop_key: 'k' };

test('a tool runs in memory with its inputs checked and completed', async () => {
  const tested = serveTools.test(price, { secrets });
  expect(await tested.call({ order: 'A-1' })).toEqual({ price: '3 EUR' });
  await expect(tested.call({ order: JSON.parse('1') })).rejects.toThrow(/^inputs\.order: /);
});

test('a tool whose output does not match its schema fails in memory as it would when served', async () => {
  await expect(serveTools.test(price, { secrets }).call({ order: 'odd' })).rejects.toThrow(/^output\.price: /);
});

test('what a tool throws reaches its test unchanged', async () => {
  await expect(serveTools.test(price).call({ order: 'none' })).rejects.toBeInstanceOf(Fatal);
});

test('a test sees what a tool logged and kept, and decides who calls it', async () => {
  const tested = serveTools.test(price, { secrets });
  await tested.call({ order: 'A-1' }, { actor: 'ann', attempt: 2 });
  expect(tested.logs).toEqual(['asking as ann { attempt: 2 }', '[50 %] half-way']);
  expect(tested.artifacts).toMatchObject([
    { name: 'receipt.txt', media_type: 'text/plain', size: 5, content: 'key k' },
  ]);
});

test('a tool that asks for a secret that its test does not give is told how to give it', async () => {
  await expect(serveTools.test(price).call({ order: 'A-1' })).rejects.toThrow(
    /serveTools\.test\(tool, \{ secrets \}\)/,
  );
});
