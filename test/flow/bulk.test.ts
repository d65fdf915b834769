import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';

const add = (a: number, b: number | string = 1) => ({ tool_id: 'cap:test_math:add', inputs: { a, b } });

describe.each(queues)('a bulk submission on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue, { workers: 2 });
  });

  test('accepts valid items and says what is wrong with the others, in the order given', async () => {
    const answer = await system.admin.submitBulk([
      add(1),
      { tool_id: 'cap:nothing:here' },
      { tool_id: 'shell.run', inputs: { cmd: ['true'] } },
      add(2, 'two'),
      { ...add(3), prioritee: 1 },
      add(4),
    ]);
    expect(answer).toMatchObject({ accepted: 2, held: 0, denied: 1, invalid: 3 });
    expect(answer.items.map(({ index, status, problem }) => [index, status, problem?.code])).toEqual([
      [0, 'queued', undefined],
      [1, 'invalid', 2001],
      [2, 'denied', 1001],
      [3, 'invalid', 2002],
      [4, 'invalid', 3002],
      [5, 'queued', undefined],
    ]);
  });

  test('is one run, whose counts add up when all its calls have ended', async () => {
    const total = 1_100; // more than a page
    const { run_id, accepted } = await system.admin.submitBulk(Array.from({ length: total }, (_, index) => add(index)));
    expect(accepted).toBe(total);
    await eventually(async () => {
      const run = await system.admin.runs.get(run_id);
      expect(run).toMatchObject({ status: 'completed', total_steps: total, completed_steps: total, failed_steps: 0 });
      expect(run.finished_at).not.toBeNull();
    });
    const listed: number[] = [];
    for await (const one of system.admin.list({ run_id, limit: 1000 })) {
      expect(one.result?.payload).toEqual({ result: Number(one.inputs.a) + 1 });
      listed.push(Number(one.inputs.a));
    }
    expect(listed).toEqual(Array.from({ length: total }, (_, index) => total - 1 - index));
  });

  test('that has the same idempotency key twice makes one invocation', async () => {
    const one = { ...add(7), idempotency_key: 'bulk-once' };
    const { items } = await system.admin.submitBulk([one, one]);
    expect(items[0]?.invocation_id).toBe(items[1]?.invocation_id);
  });

  test('a lone invocation is a run of one step', async () => {
    const done = await system.admin.submit(add(1), { wait_s: 30 });
    const run = await system.admin.runs.get(done.run_id);
    expect(run).toMatchObject({ kind: 'lone', status: 'completed', total_steps: 1, completed_steps: 1 });
    const { items } = await system.admin.runs.list({ limit: 1 }).page();
    expect(items[0]?.run_id).toBe(done.run_id);
  });

  test('cancelMany cancels the calls that match the filter and counts them, and refuses an empty filter', async () => {
    const labels = { batch: 'later' };
    await system.admin.submitBulk([1, 2, 3].map((n) => ({ ...add(n), delay_ms: 600_000, labels })));
    expect(await system.admin.cancelMany({ label: 'batch:later' })).toEqual({ count: 3 });
    await expect(system.admin.cancelMany({})).rejects.toMatchObject({ status: 400 });
  });
});
