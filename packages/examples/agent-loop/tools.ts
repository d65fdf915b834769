import { Fatal, serveTools, tool } from '@capstan/client';
import { z } from 'zod';

// Stands for your own database and payment provider.
const orders = new Map([['A-17', { item: 'teapot', paid: 20, state: 'delivered' }]]);
const refunds = new Map<string, string>();

const find_order = tool({
  id: 'find_order',
  description: 'Look up an order by its number',
  input: z.object({ order: z.string() }),
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: ({ order }) => orders.get(order) ?? { error: `there is no order ${order}` },
});

const refund = tool({
  id: 'refund',
  description: 'Pay money back to a customer',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  output: z.object({ refund_id: z.string() }),
  risk: 'HIGH', // the policy of a first start holds it for a person
  side_effects: ['payments'],
  effects: { idempotent: true, destructive: true },
  run: ({ order, amount }, { idempotency_key, log }) => {
    const paid = orders.get(order)?.paid ?? 0;
    if (amount > paid) throw new Fatal(`${amount} is more than the ${paid} paid for ${order}`);
    const refund_id = refunds.get(idempotency_key) ?? `refund-${refunds.size + 1}`;
    refunds.set(idempotency_key, refund_id); // a second attempt of the same call pays nothing
    log(`paid back ${amount} for ${order}`);
    return { refund_id };
  },
});

const worker = await serveTools({ pool: 'shop', tools: [find_order, refund] });
console.log(`serving ${worker.tools.map(({ tool_id }) => tool_id).join(', ')}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => worker.stop());
