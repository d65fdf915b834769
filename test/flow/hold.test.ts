import type { Client } from '@capstan/client';
import { holdIdOf } from '@capstan/contracts';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ADD, newActor, onHeldSums, submitHeld, WEATHER } from './on-held-sums.js';
import { refusalOf } from './refusal-of.js';

const ended = (client: Client, invocation_id: string) => client.wait(invocation_id, { timeout_s: 60 });

onHeldSums((holds) => {
  test('shows everything that is needed to decide it, and is found by its filters', async () => {
    const { asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 2 }, { labels: { team: 'blue' } });
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
    const { asker, ann, bob } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 2 });
    const released = await bob.holds.release(hold_id, { comment: 'fine', input_hash: invocation.input_hash });
    expect(released).toMatchObject({ status: 'released', decided_by: 'bob', approvals: { given: 1 } });
    const done = await ended(asker, invocation.invocation_id);
    expect(done).toMatchObject({ status: 'succeeded', attempt: 1, result: { payload: { result: 3 } } });
    const hold = await ann.holds.get(hold_id);
    const { input_hash, descriptor_hash, policy_hash } = invocation;
    expect(hold.approval).toMatchObject({ input_hash, descriptor_hash, policy_hash });
    expect(hold.approval?.used_at).not.toBeNull();
    expect(hold.votes).toMatchObject([{ actor: 'bob', kind: 'release', comment: 'fine', counts: true }]);
    // Repeating the decision gives the same answer; a different one is too late.
    expect(await bob.holds.release(hold_id)).toMatchObject({ status: 'released' });
    expect(await refusalOf(ann.holds.reject(hold_id, 'no'))).toMatchObject({ status: 409 });
  });

  test('is released once when twenty people release it at the same time', async () => {
    const { system, asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 5, b: 5 });
    const people = await Promise.all(
      Array.from({ length: 20 }, (_, at) => newActor(system, `clicker-${at}`, ['operate'])),
    );
    const answers = await Promise.allSettled(people.map((person) => person.holds.release(hold_id)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 409 });
    expect(await ended(asker, invocation.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 1 });
    expect((await ann.holds.get(hold_id)).votes).toHaveLength(1);
  });

  test('that is rejected ends its call with who rejected it and why', async () => {
    const { asker, ann, bob } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    expect(await bob.holds.reject(hold_id, 'not today')).toMatchObject({
      status: 'rejected',
      decided_by: 'bob',
      votes: [{ kind: 'reject', comment: 'not today' }],
    });
    const done = await ended(asker, invocation.invocation_id);
    expect(done.status).toBe('rejected');
    expect(done.finished_at).not.toBeNull();
    const { items } = await asker.runs.steps(done.run_id).page();
    expect(items).toMatchObject([{ status: 'rejected', reason: 'by bob: not today' }]);
    expect(await refusalOf(ann.holds.release(hold_id))).toMatchObject({ status: 409 });
  });

  test('can be withdrawn only by whoever submitted the call', async () => {
    const { asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    expect(await refusalOf(ann.holds.withdraw(hold_id))).toMatchObject({ status: 403 });
    expect(await asker.holds.withdraw(hold_id, 'a mistake')).toMatchObject({ status: 'withdrawn' });
    expect((await asker.get(invocation.invocation_id)).status).toBe('canceled');
  });

  test('is canceled with its invocation', async () => {
    const { asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    await asker.cancel(invocation.invocation_id);
    expect(await ann.holds.get(hold_id)).toMatchObject({ status: 'canceled', decided_by: 'asker' });
  });

  test('expires with its call, and cannot be released afterwards', async () => {
    const { asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 }, { expires_in_ms: 50 });
    expect((await ended(asker, invocation.invocation_id)).status).toBe('expired');
    expect((await ann.holds.get(hold_id)).status).toBe('expired');
    expect(await refusalOf(ann.holds.release(hold_id))).toMatchObject({ status: 409 });
  });

  test('can be decided only with the operate role, and not by whoever submitted the call', async () => {
    const { system, asker, ann } = holds;
    const { hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    expect(await refusalOf(asker.holds.release(hold_id))).toMatchObject({ status: 403 });
    const other = await newActor(system, 'other', ['submit', 'audit']);
    expect(await refusalOf(other.holds.release(hold_id))).toMatchObject({ status: 403 });
    expect(await refusalOf(other.holds.reject(hold_id, 'no'))).toMatchObject({ status: 403 });
    const own = await ann.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
    expect(await refusalOf(ann.holds.release(holdIdOf(own.invocation_id)))).toMatchObject({ status: 403 });
  });

  test('shows no secrets, and is decided only by those whom policy names', async () => {
    const { system, asker, ann, bob } = holds;
    const secret = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const { invocation_id } = await asker.submit({ tool_id: WEATHER, inputs: { city: `at ${secret}` } });
    const hold_id = holdIdOf(invocation_id);
    const hold = await ann.holds.get(hold_id);
    expect(JSON.stringify(hold)).not.toContain(secret);
    expect(hold.inputs.city).toMatch(/^at /);
    expect(await refusalOf(bob.holds.release(hold_id))).toMatchObject({ status: 403 });
    const carol = await newActor(system, 'carol', ['audit']);
    expect(await carol.holds.release(hold_id, { input_hash: hold.input_hash })).toMatchObject({ status: 'released' });
    expect((await ended(asker, invocation_id)).status).toBe('succeeded');
  });

  test('that is released before the start time of its call leaves the call deferred', async () => {
    const { asker, ann } = holds;
    const { invocation, hold_id } = await submitHeld(holds, { a: 1, b: 1 }, { delay_ms: 86_000_000 });
    await ann.holds.release(hold_id);
    expect((await asker.get(invocation.invocation_id)).status).toBe('deferred');
    await asker.cancel(invocation.invocation_id);
  });

  test('of a plan step pauses the plan, which goes on after the release', async () => {
    const { asker, ann } = holds;
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
      await ended(asker, held?.invocation_id ?? '');
    }
    expect(await asker.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({ status: 'completed', completed_steps: 2 });
  });

  test('of another tenant can be neither seen nor released', async () => {
    const { system } = holds;
    const { hold_id } = await submitHeld(holds, { a: 1, b: 1 });
    const { key: secret } = await system.admin.keys.create({ tenant: 'elsewhere', actor: 'eve', roles: ['admin'] });
    const eve = system.clientFor(secret);
    expect(await refusalOf(eve.holds.get(hold_id))).toMatchObject({ status: 404 });
    expect(await refusalOf(eve.holds.release(hold_id))).toMatchObject({ status: 404 });
    expect((await eve.holds.list().page()).items).toEqual([]);
  });

  test('leaves the counts of its run right, and every decision is in the audit log', async () => {
    const { system, asker, ann } = holds;
    const { run_id, items } = await asker.submitBulk([1, 2, 3].map((a) => ({ tool_id: ADD, inputs: { a, b: 0 } })));
    const [one, two, three] = items.map(({ invocation_id }) => holdIdOf(invocation_id ?? ''));
    await ann.holds.release(one ?? '');
    await ann.holds.reject(two ?? '', 'no');
    await asker.holds.withdraw(three ?? '');
    const run = await asker.runs.wait(run_id, { timeout_s: 60 });
    expect(run).toMatchObject({ completed_steps: 1, denied_steps: 1 });
    const { rows } = await sql<{ event: string }>`
      SELECT event FROM audit WHERE subject IN (${one}, ${two}, ${three}) ORDER BY seq`.execute(system.store.db);
    expect(rows.map(({ event }) => event)).toEqual(['hold.release', 'hold.reject', 'hold.withdraw']);
  });
});
