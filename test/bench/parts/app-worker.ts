import { serveTools, tool } from '@capstan/client';
import { getEachMessage, sendMessage } from 'execa';
import { z } from 'zod';

// Own process: serves a sum, as a user's own process would.

const Order = z.object({ url: z.string(), key: z.string() });

const add = tool({
  id: 'add',
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: ({ a, b }) => ({ result: a + b }),
});

for await (const message of getEachMessage()) {
  const worker = await serveTools({ ...Order.parse(message), pool: 'bench', tools: [add], concurrency: 100 });
  await sendMessage({ worker_id: worker.worker_id });
}
