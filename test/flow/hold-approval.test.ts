import type { Client } from '@capstan/client';
import type { Hold } from '@capstan/contracts';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ADD, HOLD_ONE, HOLD_POLICY, onHeldSums, submitHeld } from './on-held-sums.js';
import { refusalOf } from './refusal-of.js';

const ended = (client: Client, invocation_id: string) => client.wait(invocation_id, { timeout_s: 60 });

onHeldSums((holds) => {
  test('needs two different people if policy says so', async () => {
    const { asker, ann, bob } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 100, b: 1 });
    expect(await ann.holds.release(hold_id)).toMatchObject({ status: 'pending', approvals: { required: 2, given: 1 } });
    expect(await ann.holds.release(hold_id)).toMatchObject({ status: 'pending', approvals: { required: 2, given: 1 } });
    expect(await bob.holds.release(hold_id)).toMatchObject({ status: 'released', approvals: { given: 2 } });
    expect(await ended(asker, invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  test('needs every vote again once its inputs are changed so that another rule applies', async () => {
    const { asker, ann, bob } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 100, b: 1 });
    await ann.holds.release(hold_id);
    const edited = await bob.holds.release(hold_id, { inputs: { a: 600, b: 1 }, comment: 'it was 600' });
    expect(edited).toMatchObject({
      status: 'pending',
      round: 2,
      returned_because: 'bob changed a: all who agreed vote again',
      approvals: { given: 1, given_by: ['bob'] },
      inputs: { a: 600, b: 1 },
    });
    expect(edited.votes.map(({ actor, counts }) => [actor, counts])).toEqual([
      ['ann', false],
      ['bob', true],
    ]);
    // A vote names the inputs that its voter saw.
    expect(await refusalOf(ann.holds.release(hold_id, { input_hash: invocation.input_hash }))).toMatchObject({
      status: 409,
    });
    expect(await refusalOf(ann.holds.release(hold_id, { inputs: { a: 5000, b: 1 } }))).toMatchObject({ status: 403 });
    expect(await refusalOf(ann.holds.release(hold_id, { inputs: { a: 'x' } }))).toMatchObject({ status: 422 });
    await ann.holds.release(hold_id, { input_hash: edited.input_hash });
    expect(await ended(asker, invocation.invocation_id)).toMatchObject({
      status: 'succeeded',
      result: { payload: { result: 601 } },
    });
  });

  test('of a plan step is released by two people, the second with other inputs, and the report has both votes and both hashes', async () => {
    const { asker, ann, bob } = holds;
    const { run_id } = await asker.runs.submit({
      plan: { steps: [{ id: 'refund', tool: ADD, args: { a: 250, b: 1 } }] },
    });
    const {
      hold_id,
      invocation_id,
      input_hash: submitted,
    } = await eventually(async () => {
      const { items } = await ann.holds.list({ actor: 'asker' }).page();
      return items.find((item) => item.run_id === run_id) ?? false;
    });
    await ann.holds.release(hold_id, { comment: 'fine' });
    const hold = await bob.holds.release(hold_id, { inputs: { a: 200, b: 1 }, comment: 'it was 200' });
    const edit = { actor: 'bob', changed: ['a'], previous_input_hash: submitted, input_hash: hold.input_hash };
    expect(hold).toMatchObject({
      status: 'released',
      approvals: { required: 2, given: 2, given_by: ['ann', 'bob'] },
      original_inputs: { a: 250, b: 1 },
      original_input_hash: submitted,
      inputs: { a: 200, b: 1 },
      edits: [edit],
      votes: [
        { actor: 'ann', input_hash: submitted, counts: true },
        { actor: 'bob', input_hash: hold.input_hash, counts: true },
      ],
      approval: { input_hash: hold.input_hash },
    });
    expect(hold.input_hash).not.toBe(submitted);
    expect(await ended(asker, invocation_id)).toMatchObject({
      status: 'succeeded',
      inputs: { a: 200, b: 1 },
      result: { payload: { result: 201 } },
    });
    expect((await asker.get(invocation_id)).hold).toMatchObject({ original_input_hash: submitted, edits: [edit] });

    await asker.runs.wait(run_id, { timeout_s: 60 });
    const report = await asker.records.report(run_id);
    expect(report.steps[0]).toMatchObject({
      input_hash: hold.input_hash,
      hold: {
        original_inputs: { a: 250, b: 1 },
        original_input_hash: submitted,
        approved_input_hash: hold.input_hash,
        entries: [
          { kind: 'release', actor: 'ann', comment: 'fine', input_hash: submitted, at: expect.any(String) },
          { kind: 'edit', ...edit, comment: 'it was 200' },
          { kind: 'release', actor: 'bob', comment: 'it was 200', input_hash: hold.input_hash },
        ],
      },
    });
    expect(report.verification?.ok).toBe(true);
    for (const format of ['text', 'html'] as const) {
      const page = await asker.records.reportText(run_id, format);
      for (const part of [
        'ann',
        'bob',
        'it was 200',
        submitted,
        hold.input_hash,
        report.steps[0]?.hold?.entries[1]?.at ?? '',
      ])
        expect(page).toContain(part);
    }
  });

  describe('whose policy changes between release and run', () => {
    afterEach(async () => {
      const { system } = holds;
      await system.admin.queues.resume('builtin');
      await system.admin.policies.put('default', HOLD_POLICY);
    });

    test('is pending again with the reason, and runs after another release', async () => {
      const { system, asker, ann } = holds;
      await system.admin.queues.pause('builtin');
      const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 });
      await ann.holds.release(hold_id);
      const reason = { ...HOLD_ONE, reason: 'sums still need a person' };
      await system.admin.policies.put('default', {
        ...HOLD_POLICY,
        rules: [...HOLD_POLICY.rules, { ...reason, id: 'again' }],
      });
      await system.admin.queues.resume('builtin');
      const back: Hold = await eventually(async () => {
        const hold = await ann.holds.get(hold_id);
        return hold.status === 'pending' && hold;
      }).then((hold) => hold || Promise.reject(new Error('not back')));
      expect(back).toMatchObject({
        round: 2,
        returned_because: 'the policy has changed since the release',
        approval: null,
      });
      expect(back.votes).toMatchObject([{ actor: 'ann', counts: false, round: 1 }]);
      const parked = await asker.get(invocation.invocation_id);
      expect(parked).toMatchObject({ status: 'held', attempts: [{ outcome: 'handed_back' }] });
      expect(await ann.holds.release(hold_id)).toMatchObject({ status: 'released' });
      expect(await ended(asker, invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 2 });
    });

    test('so that the call is denied can no longer be released', async () => {
      const { system, ann } = holds;
      const { hold_id } = await submitHeld(holds, { a: 1, b: 1 });
      const never = { id: 'no-sums', effect: 'forbid', match: { tool: ADD }, reason: 'no sums at all' } as const;
      await system.admin.policies.put('default', { ...HOLD_POLICY, rules: [...HOLD_POLICY.rules, never] });
      expect(await refusalOf(ann.holds.release(hold_id))).toMatchObject({ status: 403, problem: { code: 1001 } });
      expect(await ann.holds.reject(hold_id, 'not allowed any more')).toMatchObject({ status: 'rejected' });
    });
  });

  test('of a redriven call has to be released again, because an approval is for one run', async () => {
    const { system, asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    await ann.holds.release(hold_id);
    await ended(asker, invocation.invocation_id);
    // The state that a worker leaves behind if it is lost during the call.
    await sql`UPDATE results SET status = 'ambiguous' WHERE invocation_id = ${invocation.invocation_id}`.execute(
      system.store.db,
    );
    await ann.redrive(invocation.invocation_id);
    await eventually(async () => (await ann.holds.get(hold_id)).status === 'pending');
    expect(await ann.holds.get(hold_id)).toMatchObject({
      round: 2,
      returned_because: expect.stringContaining('another'),
    });
  });

  test('in a plan whose hash was approved is released as soon as it is created', async () => {
    const { asker, ann } = holds;
    const plan = { steps: [1, 2, 3].map((a) => ({ tool: ADD, args: { a, b: 40 } })) };
    const { plan_hash } = await asker.runs.submit({ plan });
    const grant = await ann.grants.create({ kind: 'plan', plan_hash: plan_hash ?? '' });
    const { run_id } = await asker.runs.submit({ plan });
    expect(await asker.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ status: 'completed', completed_steps: 3 });
    await ann.grants.revoke(grant.grant_id);
  });

  test('is released by a grant for calls like it, until the grant is used up', async () => {
    const { asker, ann } = holds;
    const before = await submitHeld(holds, { a: 7, b: 7 });
    const { input_hash } = before.invocation;
    const grant = await ann.grants.create({ tool_id: ADD, count: 3, max_risk: 'MED', input_hash });
    // The call that is already pending uses the grant first.
    expect((await ended(asker, before.invocation.invocation_id)).status).toBe('succeeded');
    const invocations = await Promise.all(
      Array.from({ length: 4 }, () => asker.submit({ tool_id: ADD, inputs: { a: 7, b: 7 } })),
    );
    const statuses = await eventually(async () => {
      const now = await Promise.all(invocations.map(({ invocation_id }) => asker.get(invocation_id)));
      const [used] = (await ann.grants.list().page()).items;
      return (
        used?.used === 3 &&
        now.filter(({ status }) => status === 'succeeded').length === 2 &&
        now.map(({ status }) => status).sort()
      );
    });
    expect(statuses).toEqual(['held', 'held', 'succeeded', 'succeeded']);
    expect((await ann.grants.list().page()).items[0]).toMatchObject({ grant_id: grant.grant_id, used: 3, count: 3 });
    expect(await refusalOf(asker.grants.create({ tool_id: ADD }))).toMatchObject({ status: 403 });
  });

  test('that a grant releases lets a waiting caller get the result', async () => {
    const { asker, ann } = holds;
    // Enough for the calls that earlier tests left pending, too.
    const grant = await ann.grants.create({ tool_id: ADD, count: 100 });
    const answer = await asker.submit({ tool_id: ADD, inputs: { a: 8, b: 9 } }, { wait_s: 30 });
    expect(answer).toMatchObject({ status: 'succeeded' });
    await ann.grants.revoke(grant.grant_id);
  });
});
