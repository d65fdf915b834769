import { expect, test } from 'vitest';
import { refusalOf } from './refusal-of.js';
import { startSystem } from './start-system.js';

const HELD = { tool_id: 'cap:sandbox:execute_code', inputs: { language: 'python', code: 'print(1)' } };

test('whoever is alone on an installation releases their own call, marked as such, until there is a second person', async () => {
  const { admin } = await startSystem({ name: 'postgres' }, { gateway: { solo_release: true } });
  const first = await admin.submit(HELD);
  const hold = await admin.holds.release(first.hold_id ?? '', { comment: 'mine' });
  expect(hold).toMatchObject({ status: 'released', decided_by: 'admin' });
  expect(hold.votes[0]?.comment).toBe('[released by who submitted it: there is no second person yet] mine');
  const { steps } = await admin.records.report(first.run_id);
  expect(steps[0]?.hold?.entries[0]?.comment).toContain('there is no second person yet');

  await admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['operate'] });
  const second = await admin.submit(HELD);
  const refused = await refusalOf(admin.holds.release(second.hold_id ?? ''));
  expect(refused).toMatchObject({
    status: 403,
    detail: expect.stringContaining('who submitted a call may not release it'),
  });
  expect(refused.detail).toContain('sandboxed-code');
  expect(refused.suggestion).toContain('capstan keys create');
});

test('elsewhere nobody releases their own call, alone or not', async () => {
  const { admin } = await startSystem({ name: 'postgres' });
  const { hold_id } = await admin.submit(HELD);
  expect(await refusalOf(admin.holds.release(hold_id ?? ''))).toMatchObject({ status: 403 });
});
