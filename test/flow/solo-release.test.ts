import { expect, test } from 'vitest';
import { refusalOf } from './refusal-of.js';
import { startSystem } from './start-system.js';

const HELD = { tool_id: 'cap:sandbox:execute_code', inputs: { language: 'python', code: 'print(1)' } };

test('with solo_release, a lone user may release their own call, which is marked, until there is a second person', async () => {
  const { admin } = await startSystem({ name: 'postgres' }, { gateway: { solo_release: true } });
  const first = await admin.submit(HELD);
  const can_decide = { ok: true, why: expect.stringContaining('there is no second person yet') };
  expect(await admin.holds.get(first.hold_id ?? '')).toMatchObject({ can_decide });
  expect((await admin.holds.list().page()).items).toMatchObject([{ can_decide }]);
  const hold = await admin.holds.release(first.hold_id ?? '', { comment: 'mine' });
  expect(hold).toMatchObject({ status: 'released', decided_by: 'admin' });
  expect(hold.votes[0]?.comment).toBe('[released by the submitter: there is no second person yet] mine');
  const { steps } = await admin.records.report(first.run_id);
  expect(steps[0]?.hold?.entries[0]?.comment).toContain('there is no second person yet');

  await admin.keys.create({ tenant: 'default', actor: 'ann', roles: ['operate'] });
  const second = await admin.submit(HELD);
  expect(await admin.holds.get(second.hold_id ?? '')).toMatchObject({ can_decide: { ok: false } });
  const refused = await refusalOf(admin.holds.release(second.hold_id ?? ''));
  expect(refused).toMatchObject({
    status: 403,
    detail: expect.stringContaining('the submitter of a call may not release it'),
  });
  expect(refused.detail).toContain('sandboxed-code');
  expect(refused.suggestion).toContain('capstan keys create');
});

test('without solo_release, a lone user may not release their own call', async () => {
  const { admin } = await startSystem({ name: 'postgres' });
  const { hold_id } = await admin.submit(HELD);
  expect(await refusalOf(admin.holds.release(hold_id ?? ''))).toMatchObject({ status: 403 });
});
