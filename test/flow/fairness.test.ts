import { describe, expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startSystem } from './start-system.js';

const add = (a: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } });
const FLOOD = 10_000;

describe.each(queues)('on the $name queue', (queue) => {
  test('a call waits for only a few calls of another tenant that has 10,000 waiting', async () => {
    const system = await startSystem(queue);
    const { key } = await system.admin.keys.create({ tenant: 'globex', actor: 'gil', roles: ['submit'] });
    await system.admin.queues.pause('builtin');
    await eventually(() => expect(system.worker.paused()).toEqual(['builtin']));
    const { run_id } = await system.admin.submitBulk(Array.from({ length: FLOOD }, (_, index) => add(index)));
    const other = system.clientFor(key);
    const { invocation_id } = await other.submit(add(-1));
    await system.admin.queues.resume('builtin');
    expect(await other.wait(invocation_id, { timeout_s: 60 })).toMatchObject({ status: 'succeeded' });
    // The rest of the flood is not needed any more, if there is any.
    await system.admin.runs.cancel(run_id).catch(() => {});
    const [{ before }] = await query(
      system.database.url,
      `SELECT count(*)::int AS before FROM invocation_states flood, invocation_states call
       WHERE call.invocation_id = '${invocation_id}' AND flood.run_id = '${run_id}'
         AND flood.started_at < call.started_at`,
    );
    // On Redis, calls of short runs travel fifty to a receipt, and a worker has two receipts in hand.
    expect(before).toBeLessThanOrEqual(queue.name === 'redis' ? 150 : 16);
  });
});
