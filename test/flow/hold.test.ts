import type { Client } from '@capstan/client';
import { type Hold, holdIdOf, type Invocation, type JsonObject, type Role } from '@capstan/contracts';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { queues } from '../fixtures/queues.js';
import { type System, startSystem } from './start-system.js';

const ADD = 'cap:test_math:add';
const WEATHER = 'cap:test_weather:get_weather';
const HOLD_ONE = {
  id: 'one-person',
  effect: 'hold',
  match: { tool: ADD },
  if: 'inputs.a < 100',
  reason: 'sums need a person',
} as const;
/** `a` says what becomes of it: below 100 one person, below 1000 two (for another reason from 500 on), more is forbidden. */
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: '*' } },
    HOLD_ONE,
    {
      id: 'two-people',
      effect: 'hold',
      match: { tool: ADD },
      if: 'inputs.a >= 100 && inputs.a < 1000',
      approvals: { required: 2 },
      reason: 'large sums need two people',
    },
    { id: 'very-large', effect: 'hold', match: { tool: ADD }, if: 'inputs.a >= 500', approvals: { required: 2 } },
    { id: 'weather', effect: 'hold', match: { tool: WEATHER }, approvals: { actors: ['carol'] } },
    { id: 'never', effect: 'forbid', match: { tool: ADD }, if: 'inputs.a >= 1000', reason: 'too large' },
  ],
} as const;

describe.each(queues)('a hold on the $name queue', (queue) => {
  let system: System;
  let asker: Client;
  let ann: Client;
  let bob: Client;
  const key = async (actor: string, roles: Role[]) =>
    system.clientFor((await system.admin.keys.create({ tenant: 'default', actor, roles })).key);
  beforeAll(async () => {
    system = await startSystem(queue, { workers: 2 });
    await system.admin.policies.put('default', POLICY);
    [asker, ann, bob] = await Promise.all([
      key('asker', ['submit']),
      key('ann', ['submit', 'operate']),
      key('bob', ['operate']),
    ]);
  });
  const submit = async (inputs: JsonObject, more = {}): Promise<{ invocation: Invocation; hold_id: string }> => {
    const invocation = await asker.submit({ tool_id: ADD, inputs, ...more });
    expect(invocation.status).toBe('held');
    return { invocation, hold_id: holdIdOf(invocation.invocation_id) };
  };
  const ended = (invocation_id: string) => asker.wait(invocation_id, { timeout_s: 20 });
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: { status: number; problem: unknown }) => error,
    );

  test('tells all that is needed to decide, without the secrets', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 2 }, { labels: { team: 'blue' } });
    const hold = await ann.holds.get(hold_id);
    expect(hold).toMatchObject({
      hold_id,
      invocation_id: invocation.invocation_id,
      tool_id: ADD,
      actor: 'asker',
      status: 'pending',
      round: 1,
      reason: 'sums need a person',
      risk: 'LOW',
      approvals: { required: 1, allow_self: false, given: 0 },
      inputs: { a: 1, b: 2 },
      input_hash: invocation.input_hash,
      descriptor_hash: invocation.descriptor_hash,
      policy_hash: invocation.policy_hash,
      labels: { team: 'blue' },
      effects: { idempotent: true },
      votes: [],
      approval: null,
    });
    expect(Date.parse(hold.expires_at)).toBeGreaterThan(Date.parse(hold.created_at));
    expect((await asker.get(invocation.invocation_id)).hold).toMatchObject({ hold_id, status: 'pending' });
    const listed = async (filter: Parameters<Client['holds']['list']>[0]) =>
      (await ann.holds.list(filter).page()).items.map((item) => item.hold_id);
    expect(await listed({})).toContain(hold_id);
    expect(await listed({ actor: 'asker', tool_id: ADD, risk: 'LOW' })).toContain(hold_id);
    expect(await listed({ actor: 'nobody' })).toEqual([]);
    expect(await listed({ risk: 'CRITICAL' })).toEqual([]);
    expect(await listed({ status: 'rejected' })).not.toContain(hold_id);
    await ann.holds.comment(hold_id, 'is this right?');
    expect((await ann.holds.get(hold_id)).comments).toMatchObject([{ actor: 'ann', comment: 'is this right?' }]);
  });

  test('runs once when it is released, and the approval is on record', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 2 });
    const released = await bob.holds.release(hold_id, { comment: 'fine', input_hash: invocation.input_hash });
    expect(released).toMatchObject({ status: 'released', decided_by: 'bob', approvals: { given: 1 } });
    const done = await ended(invocation.invocation_id);
    expect(done).toMatchObject({ status: 'succeeded', attempt: 1, result: { payload: { result: 3 } } });
    const hold = await ann.holds.get(hold_id);
    const { input_hash, descriptor_hash, policy_hash } = invocation;
    expect(hold.approval).toMatchObject({ input_hash, descriptor_hash, policy_hash });
    expect(hold.approval?.used_at).not.toBeNull();
    expect(hold.votes).toMatchObject([{ actor: 'bob', kind: 'release', comment: 'fine', counts: true }]);
    // The same decision again is the same answer; another is too late.
    expect(await bob.holds.release(hold_id)).toMatchObject({ status: 'released' });
    expect(await refusal(ann.holds.reject(hold_id, 'no'))).toMatchObject({ status: 409 });
  });

  test('is decided once when twenty release it at once', async () => {
    const { invocation, hold_id } = await submit({ a: 5, b: 5 });
    const people = await Promise.all(Array.from({ length: 20 }, (_, at) => key(`clicker-${at}`, ['operate'])));
    const answers = await Promise.allSettled(people.map((person) => person.holds.release(hold_id)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 });
    expect(await ended(invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 1 });
    expect((await ann.holds.get(hold_id)).votes).toHaveLength(1);
  });

  test('ends rejected, with who and why', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 });
    expect(await bob.holds.reject(hold_id, 'not today')).toMatchObject({
      status: 'rejected',
      decided_by: 'bob',
      votes: [{ kind: 'reject', comment: 'not today' }],
    });
    const done = await ended(invocation.invocation_id);
    expect(done.status).toBe('rejected');
    expect(done.finished_at).not.toBeNull();
    const { items } = await asker.runs.steps(done.run_id).page();
    expect(items).toMatchObject([{ status: 'rejected', reason: 'by bob: not today' }]);
    expect(await refusal(ann.holds.release(hold_id))).toMatchObject({ status: 409 });
  });

  test('is withdrawn by who submitted it, and by nobody else', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 });
    expect(await refusal(ann.holds.withdraw(hold_id))).toMatchObject({ status: 403 });
    expect(await asker.holds.withdraw(hold_id, 'a mistake')).toMatchObject({ status: 'withdrawn' });
    expect((await asker.get(invocation.invocation_id)).status).toBe('canceled');
  });

  test('is canceled with its invocation', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 });
    await asker.cancel(invocation.invocation_id);
    expect(await ann.holds.get(hold_id)).toMatchObject({ status: 'canceled', decided_by: 'asker' });
  });

  test('expires', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 }, { expires_in_ms: 50 });
    expect((await ended(invocation.invocation_id)).status).toBe('expired');
    expect((await ann.holds.get(hold_id)).status).toBe('expired');
    expect(await refusal(ann.holds.release(hold_id))).toMatchObject({ status: 409 });
  });

  test('needs somebody who may, and not who asked', async () => {
    const { hold_id } = await submit({ a: 1, b: 1 });
    expect(await refusal(asker.holds.release(hold_id))).toMatchObject({ status: 403 });
    const other = await key('other', ['submit', 'audit']);
    expect(await refusal(other.holds.release(hold_id))).toMatchObject({ status: 403 });
    expect(await refusal(other.holds.reject(hold_id, 'no'))).toMatchObject({ status: 403 });
    const own = await ann.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
    expect(await refusal(ann.holds.release(holdIdOf(own.invocation_id)))).toMatchObject({ status: 403 });
  });

  test('shows no secrets, and is decided by those whom policy names', async () => {
    const secret = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const { invocation_id } = await asker.submit({ tool_id: WEATHER, inputs: { city: `at ${secret}` } });
    const hold_id = holdIdOf(invocation_id);
    const hold = await ann.holds.get(hold_id);
    expect(JSON.stringify(hold)).not.toContain(secret);
    expect(hold.inputs.city).toMatch(/^at /);
    expect(await refusal(bob.holds.release(hold_id))).toMatchObject({ status: 403 });
    const carol = await key('carol', ['audit']);
    expect(await carol.holds.release(hold_id, { input_hash: hold.input_hash })).toMatchObject({ status: 'released' });
    expect((await ended(invocation_id)).status).toBe('succeeded');
  });

  test('takes two different people where policy says so', async () => {
    const { invocation, hold_id } = await submit({ a: 100, b: 1 });
    expect(await ann.holds.release(hold_id)).toMatchObject({ status: 'pending', approvals: { required: 2, given: 1 } });
    expect(await ann.holds.release(hold_id)).toMatchObject({ status: 'pending', approvals: { required: 2, given: 1 } });
    expect(await bob.holds.release(hold_id)).toMatchObject({ status: 'released', approvals: { given: 2 } });
    expect(await ended(invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  test('changed into a call that policy sees with other eyes takes every vote anew', async () => {
    const { invocation, hold_id } = await submit({ a: 100, b: 1 });
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
    // Nobody releases what they have not seen.
    expect(await refusal(ann.holds.release(hold_id, { input_hash: invocation.input_hash }))).toMatchObject({
      status: 409,
    });
    expect(await refusal(ann.holds.release(hold_id, { inputs: { a: 5000, b: 1 } }))).toMatchObject({ status: 403 });
    expect(await refusal(ann.holds.release(hold_id, { inputs: { a: 'x' } }))).toMatchObject({ status: 422 });
    await ann.holds.release(hold_id, { input_hash: edited.input_hash });
    expect(await ended(invocation.invocation_id)).toMatchObject({
      status: 'succeeded',
      result: { payload: { result: 601 } },
    });
  });

  test('of a step is released by two people, the second with other inputs; the report has who, when, what and both hashes', async () => {
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
    expect(await ended(invocation_id)).toMatchObject({
      status: 'succeeded',
      inputs: { a: 200, b: 1 },
      result: { payload: { result: 201 } },
    });
    expect((await asker.get(invocation_id)).hold).toMatchObject({ original_input_hash: submitted, edits: [edit] });

    await asker.runs.wait(run_id, { timeout_s: 20 });
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

  test('waits for its time when it is released before', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 }, { delay_ms: 86_000_000 });
    await ann.holds.release(hold_id);
    expect((await asker.get(invocation.invocation_id)).status).toBe('deferred');
    await asker.cancel(invocation.invocation_id);
  });

  describe('whose policy changes between release and run', () => {
    afterEach(async () => {
      await system.admin.queues.resume('builtin');
      await system.admin.policies.put('default', POLICY);
    });

    test('is pending again with the reason, and runs after another release', async () => {
      await system.admin.queues.pause('builtin');
      const { invocation, hold_id } = await submit({ a: 1, b: 1 });
      await ann.holds.release(hold_id);
      const reason = { ...HOLD_ONE, reason: 'sums still need a person' };
      await system.admin.policies.put('default', { ...POLICY, rules: [...POLICY.rules, { ...reason, id: 'again' }] });
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
      expect(await ended(invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 2 });
    });

    test('to a denial can no longer be released', async () => {
      const { hold_id } = await submit({ a: 1, b: 1 });
      const never = { id: 'no-sums', effect: 'forbid', match: { tool: ADD }, reason: 'no sums at all' } as const;
      await system.admin.policies.put('default', { ...POLICY, rules: [...POLICY.rules, never] });
      expect(await refusal(ann.holds.release(hold_id))).toMatchObject({ status: 403, problem: { code: 1001 } });
      expect(await ann.holds.reject(hold_id, 'not allowed any more')).toMatchObject({ status: 'rejected' });
    });
  });

  test('of a redriven call is to be released again: an approval is for one run', async () => {
    const { invocation, hold_id } = await submit({ a: 1, b: 1 });
    await ann.holds.release(hold_id);
    await ended(invocation.invocation_id);
    // As a worker leaves it that was lost half-way.
    await sql`UPDATE invocations SET status = 'ambiguous' WHERE invocation_id = ${invocation.invocation_id}`.execute(
      system.store.db,
    );
    await ann.redrive(invocation.invocation_id);
    await eventually(async () => (await ann.holds.get(hold_id)).status === 'pending');
    expect(await ann.holds.get(hold_id)).toMatchObject({
      round: 2,
      returned_because: expect.stringContaining('another'),
    });
  });

  test('of a step parks its plan, which goes on after the release', async () => {
    const step = (a: number | string) => ({ tool: ADD, args: { a, b: 1 } });
    const plan = {
      steps: [
        { id: 'first', ...step(1) },
        { id: 'then', ...step('${{ steps.first.output.result }}') },
      ],
    };
    const { run_id } = await asker.runs.submit({ plan });
    for (const sum of [2, 3]) {
      const [held] = await eventually(async () => {
        const { items } = await ann.holds.list({ actor: 'asker' }).page();
        const own = items.filter((item) => item.run_id === run_id);
        return own.length > 0 && own;
      }).then((own) => own || []);
      expect((await asker.runs.get(run_id)).status).toBe('running');
      await ann.holds.release(held?.hold_id ?? '', { comment: `to ${sum}` });
      await ended(held?.invocation_id ?? '');
    }
    expect(await asker.runs.wait(run_id, { timeout_s: 20 })).toMatchObject({ status: 'completed', completed_steps: 2 });
  });

  test('of a plan that was approved by its hash is released as it comes', async () => {
    const plan = { steps: [1, 2, 3].map((a) => ({ tool: ADD, args: { a, b: 40 } })) };
    const { plan_hash } = await asker.runs.submit({ plan });
    const grant = await ann.grants.create({ kind: 'plan', plan_hash: plan_hash ?? '' });
    const { run_id } = await asker.runs.submit({ plan });
    expect(await asker.runs.wait(run_id, { timeout_s: 20 })).toMatchObject({ status: 'completed', completed_steps: 3 });
    await ann.grants.revoke(grant.grant_id);
  });

  test('is released by a grant for the next of its kind, so often and no more', async () => {
    const before = await submit({ a: 7, b: 7 });
    const { input_hash } = before.invocation;
    const grant = await ann.grants.create({ tool_id: ADD, count: 3, max_risk: 'MED', input_hash });
    // What is pending already is the first of the next ones.
    expect((await ended(before.invocation.invocation_id)).status).toBe('succeeded');
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
    expect(await refusal(asker.grants.create({ tool_id: ADD }))).toMatchObject({ status: 403 });
  });

  test('whoever waits for it gets the result where a grant releases it', async () => {
    // Enough for those that tests before have left pending as well.
    const grant = await ann.grants.create({ tool_id: ADD, count: 100 });
    const answer = await asker.submit({ tool_id: ADD, inputs: { a: 8, b: 9 } }, { wait_s: 30 });
    expect(answer).toMatchObject({ status: 'succeeded' });
    await ann.grants.revoke(grant.grant_id);
  });

  test("of another tenant is none of one's business", async () => {
    const { hold_id } = await submit({ a: 1, b: 1 });
    const { key: secret } = await system.admin.keys.create({ tenant: 'elsewhere', actor: 'eve', roles: ['admin'] });
    const eve = system.clientFor(secret);
    expect(await refusal(eve.holds.get(hold_id))).toMatchObject({ status: 404 });
    expect(await refusal(eve.holds.release(hold_id))).toMatchObject({ status: 404 });
    expect((await eve.holds.list().page()).items).toEqual([]);
  });

  test('leaves the counts of its run right, and every decision on the audit', async () => {
    const { run_id, items } = await asker.submitBulk([1, 2, 3].map((a) => ({ tool_id: ADD, inputs: { a, b: 0 } })));
    const [one, two, three] = items.map(({ invocation_id }) => holdIdOf(invocation_id ?? ''));
    await ann.holds.release(one ?? '');
    await ann.holds.reject(two ?? '', 'no');
    await asker.holds.withdraw(three ?? '');
    const run = await asker.runs.wait(run_id, { timeout_s: 20 });
    expect(run).toMatchObject({ completed_steps: 1, denied_steps: 1 });
    const { rows } = await sql<{ event: string }>`
      SELECT event FROM audit WHERE subject IN (${one}, ${two}, ${three}) ORDER BY seq`.execute(system.store.db);
    expect(rows.map(({ event }) => event)).toEqual(['hold.release', 'hold.reject', 'hold.withdraw']);
  });
});
