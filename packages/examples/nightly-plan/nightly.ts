import { readFile } from 'node:fs/promises';
import { createClient, serveTools, tool } from '@capstan/client';
import { z } from 'zod';

const { CRON = '0 3 * * *', TIME_ZONE = 'Europe/Berlin' } = process.env;

// Stands for your own databases.
const orders = new Map([
  ['berlin', 12],
  ['lyon', 7],
  ['porto', 23],
]);

const Count = z.object({ shop: z.string(), orders: z.int() });

const list_shops = tool({
  id: 'list_shops',
  description: 'The names of all shops',
  input: z.object({}),
  output: z.object({ shops: z.array(z.string()) }),
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: () => ({ shops: [...orders.keys()] }),
});

const count_orders = tool({
  id: 'count_orders',
  description: 'How many orders a shop had today',
  input: z.object({ shop: z.string() }),
  output: Count,
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: ({ shop }) => ({ shop, orders: orders.get(shop) ?? 0 }),
});

const write_report = tool({
  id: 'write_report',
  description: 'Keep the counts of all shops as a CSV file',
  input: z.object({ counts: z.array(Count) }),
  output: z.object({ total: z.int() }),
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: async ({ counts }, { artifact }) => {
    const lines = counts.map((count) => `${count.shop},${count.orders}\n`);
    await artifact('orders.csv', `shop,orders\n${lines.join('')}`, 'text/csv');
    return { total: counts.reduce((sum, count) => sum + count.orders, 0) };
  },
});

const worker = await serveTools({ pool: 'reports', tools: [list_shops, count_orders, write_report] });
const capstan = createClient();

// Replaces the schedule of an earlier start, so that the plan is the one in this folder.
for await (const { schedule_id, name } of capstan.schedules.list())
  if (name === 'nightly-report') await capstan.schedules.remove(schedule_id);
const { schedule_id, next } = await capstan.schedules.create({
  name: 'nightly-report',
  cron: CRON,
  time_zone: TIME_ZONE,
  overlap: 'skip', // a run that takes longer than a day is not started twice
  catch_up: 1, // after a downtime, one run makes up for those missed
  plan: await readFile(new URL('plan.yaml', import.meta.url), 'utf8'),
});
console.log(`${schedule_id} starts next at ${next[0]}`);
await capstan.close();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => worker.stop());
