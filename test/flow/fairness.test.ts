import { describe, expect, test } from 'vitest';
import { query } from '../conformance/query.js';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { startSystem } from './start-system.js';

const add = (a: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } });

describe.each(queues)('on the $name queue', (queue) => {
  test('a call waits for a few runs of another tenant, however many that one has waiting', async () => {
    const system = await startSystem(queue);
    const { key } = await system.admin.keys.create({ tenant: 'globex', actor: 'gil', roles: ['submit'] });
    await system.admin.queues.pause('builtin');
    await eventually(() => expect(system.worker.paused()).toEqual(['builtin']));
    const { run_id } = await system.admin.submitBulk(Array.from({ length: 2_000 }, (_, index) => add(index)));
    const { invocation_id } = await system.clientFor(key).submit(add(-1));
    await system.admin.queues.resume('builtin');

    await eventually(async () => expect(await system.admin.runs.get(run_id)).toMatchObject({ status: 'completed' }), {
      timeout_ms: 20_000,
    });
    const [{ before }] = await query(
      system.database.url,
      `SELECT count(*)::int AS before FROM invocations flood, invocations call
       WHERE call.invocation_id = '${invocation_id}' AND flood.run_id = '${run_id}'
         AND flood.started_at < call.started_at`,
    );
    expect(before).toBeLessThanOrEqual(16);
  });
});
