import { type Step, stepInvocationId } from '@capstan/contracts';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ADD, add, onPlans } from './on-plans.js';
import { ALLOW_ALL, type System } from './start-system.js';
import { stepsOf } from './steps-of.js';

const FAIL = { tool: 'cap:test_math:divide', args: { a: 1, b: 0 } };

/** Makes these calls look as if a worker had claimed them and was then lost. */
async function loseWorkerOf({ store }: System, invocation_ids: string[]): Promise<void> {
  await eventually(async () => {
    const { rows } =
      await sql`SELECT FROM work WHERE status = 'queued' AND invocation_id = ANY (${invocation_ids})`.execute(store.db);
    expect(rows).toHaveLength(invocation_ids.length);
  });
  await sql`INSERT INTO workers (worker_id, runners, host, pid, concurrency, lease_until)
    VALUES ('wrk_lost', '{exec}', 'nowhere', 1, 1, now() - interval '1 second')`.execute(store.db);
  await sql`
    WITH taken AS (DELETE FROM work WHERE invocation_id = ANY (${invocation_ids}) RETURNING invocation_id, runner)
    INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts)
    SELECT 'clm_' || invocation_id, runner, 'wrk_lost', now(), ARRAY[invocation_id], '{1}', '{1}' FROM taken`.execute(
    store.db,
  );
}

onPlans((plans) => {
  const statuses = (steps: Step[]) => steps.map(({ status }) => status);

  test('without needs runs its steps in order, each with the outputs of those before it', async () => {
    const { done, steps, outputs } = await plans.run(
      `
version: "1.0"
name: sums
inputs: { start: { type: integer } }
steps:
  - { id: one, tool: cap:test_math:add, args: { a: "\${{ inputs.start }}", b: 1 } }
  - { id: two, tool: cap:test_math:add, args: { a: "\${{ steps.one.output.result }}", b: 1 } }
  - { tool: cap:test_math:add, args: { a: "\${{ steps.two.output.result + steps.one.output.result }}", b: 0 } }
`,
      { inputs: { start: 5 } },
    );
    expect(done).toMatchObject({
      kind: 'plan',
      name: 'sums',
      status: 'completed',
      total_steps: 3,
      completed_steps: 3,
      inputs: { start: 5 },
    });
    expect(outputs).toEqual([{ result: 6 }, { result: 7 }, { result: 13 }]);
    expect(steps.map(({ step_id }) => step_id)).toEqual(['one', 'two', 'step_3']);
    const ends = steps.map(({ finished_at }) => Date.parse(finished_at ?? ''));
    expect(Date.parse(done.finished_at ?? '')).toBeGreaterThanOrEqual(Math.max(...ends));
  });

  test('with needs runs as a graph: a step that needs two others waits for both', async () => {
    const { done, outputs } = await plans.run({
      steps: [
        { id: 'left', ...add(1), needs: [] },
        { id: 'right', ...add(10), needs: [] },
        {
          id: 'both',
          ...add('${{ steps.left.output.result }}', '${{ steps.right.output.result }}'),
          needs: ['left', 'right'],
        },
        { id: 'after', ...add('${{ steps.both.output.result }}'), needs: 'both' },
      ],
    });
    expect(done.status).toBe('completed');
    expect(outputs).toEqual([{ result: 2 }, { result: 11 }, { result: 13 }, { result: 14 }]);
  });

  test('with for_each runs a step for each element, and has the outputs in the same order', async () => {
    const { done, steps, outputs } = await plans.run({
      max_parallel: 3,
      inputs: { numbers: { type: 'array', default: [5, 6, 7, 8, 9] } },
      steps: [
        { id: 'each', for_each: '${{ inputs.numbers }}', ...add('${{ item }}', '${{ index }}') },
        { id: 'sum', ...add('${{ steps.each.outputs[0].result }}', '${{ size(steps.each.outputs) }}') },
      ],
    });
    expect(done).toMatchObject({ status: 'completed', total_steps: 6, completed_steps: 6 });
    expect(outputs).toEqual([5, 7, 9, 11, 13, 10].map((result) => ({ result })));
    expect(steps.map(({ step_id, element }) => [step_id, element])).toEqual([
      ...[0, 1, 2, 3, 4].map((element) => ['each', element]),
      ['sum', null],
    ]);
  });

  test('with for_each over an empty list goes on with the next step', async () => {
    const { done, outputs } = await plans.run({
      steps: [
        { id: 'each', for_each: [], ...add('${{ item }}') },
        { id: 'count', ...add('${{ size(steps.each.outputs) }}', 0) },
      ],
    });
    expect(done).toMatchObject({ status: 'completed', total_steps: 2, completed_steps: 2 });
    expect(outputs[1]).toEqual({ result: 0 });
  });

  test('skips a step whose when is false and the steps that use its output, and runs the others', async () => {
    const { done, steps } = await plans.run({
      steps: [
        { id: 'first', ...add(1) },
        { id: 'not', ...add(1), when: '${{ steps.first.output.result > 100 }}' },
        { id: 'takes', ...add('${{ steps.not.output.result }}') },
        { id: 'asks', ...add(1), when: "steps.not.status == 'skipped'" },
      ],
    });
    expect(done).toMatchObject({ status: 'completed', completed_steps: 2, skipped_steps: 2 });
    expect(statuses(steps)).toEqual(['succeeded', 'skipped', 'skipped', 'succeeded']);
    expect(steps[2]?.reason).toContain('not was skipped');
  });

  test('stops at a step that fails, and names it', async () => {
    const { done, steps } = await plans.run({
      steps: [{ ...add(1) }, { id: 'wrong', ...FAIL }, { ...add(2) }, { ...add(3) }],
    });
    expect(done).toMatchObject({ status: 'failed', completed_steps: 1, failed_steps: 1, skipped_steps: 2 });
    expect(done.reason).toContain('wrong');
    expect(statuses(steps)).toEqual(['succeeded', 'failed', 'skipped', 'skipped']);
    expect(steps[1]).toMatchObject({ result: { success: false }, reason: expect.stringContaining('zero') });
  });

  test('goes on after a failed step that says on_error: continue', async () => {
    const { done, steps } = await plans.run({
      steps: [
        { id: 'wrong', ...FAIL, on_error: 'continue' },
        { ...add(1), when: "steps.wrong.status == 'failed'" },
      ],
    });
    expect(done).toMatchObject({ status: 'completed', failed_steps: 1, completed_steps: 1 });
    expect(statuses(steps)).toEqual(['failed', 'succeeded']);
  });

  test('retries a failed step as often as its retry says', async () => {
    const { steps } = await plans.run({ steps: [{ ...FAIL, retry: { max_attempts: 3, backoff_ms: 1 } }] });
    const { attempts, status } = await plans.system.admin.get(steps[0]?.invocation_id ?? '');
    expect([status, attempts.length]).toEqual(['failed', 3]);
  });

  test('fails at a step whose inputs turn out to be invalid once they are computed', async () => {
    const { done, steps } = await plans.run({ steps: [{ id: 'a', ...add(1) }, { ...add('${{ steps.a.output }}') }] });
    expect(done).toMatchObject({ status: 'failed', failed_steps: 1 });
    expect(steps[1]).toMatchObject({
      status: 'failed',
      invocation_id: null,
      reason: expect.stringContaining('inputs.a'),
    });
  });

  test('with its own policy stops at a step that this policy denies', async () => {
    const { done, steps } = await plans.run(
      { steps: [{ ...add(1) }, { tool: 'cap:test_math:multiply', args: { a: 1, b: 2 } }, { ...add(1) }] },
      { policy: { rules: [{ id: 'add', effect: 'allow', match: { tool: ADD } }] } },
    );
    expect(done).toMatchObject({ status: 'failed', completed_steps: 1, denied_steps: 1, skipped_steps: 1 });
    expect(statuses(steps)).toEqual(['succeeded', 'denied', 'skipped']);
    expect(await plans.system.admin.get(steps[1]?.invocation_id ?? '')).toMatchObject({ status: 'denied' });
  });

  test('can bring its own policy only if an admin submits it, and the policy applies to nothing else', async () => {
    const { key } = await plans.system.admin.keys.create({ tenant: 'default', actor: 'sue', roles: ['submit'] });
    const sue = plans.system.clientFor(key);
    const plan = { steps: [add(1)] };
    await expect(sue.runs.submit({ plan, policy: ALLOW_ALL })).rejects.toMatchObject({ status: 403 });
    expect(await sue.runs.dryRun({ plan, policy: ALLOW_ALL })).toMatchObject({ steps: [{ effect: 'allow' }] });
    await plans.run({ steps: [add(1)] }, { policy: ALLOW_ALL });
    await expect(sue.submit({ tool_id: 'shell.run', inputs: { cmd: ['true'] } })).rejects.toMatchObject({
      status: 403,
    });
  });

  test('waits at a step that is held, and can be canceled there', async () => {
    const policy = { rules: [{ id: 'look', effect: 'hold', match: { tool: '*' } }] };
    const { run_id } = await plans.system.admin.runs.submit({ plan: { steps: [add(1), add(2)] }, policy });
    await eventually(async () =>
      expect(statuses(await stepsOf(plans.system.admin, run_id))).toEqual(['held', 'pending']),
    );
    expect(await plans.system.admin.runs.get(run_id)).toMatchObject({ status: 'running' });
    await plans.system.admin.runs.cancel(run_id);
    expect(await plans.system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      status: 'canceled',
      canceled_steps: 2,
    });
  });

  test('that needs approval is denied at first, and runs once its hash is approved', async () => {
    const policy = {
      rules: [{ id: 'add', effect: 'allow', match: { tool: ADD } }],
      risk: { LOW: { effect: 'allow', require_spec_frozen: true } },
    };
    const plan = { name: 'frozen', steps: [add(1), add('${{ steps.step_1.output.result }}')] };
    const before = await plans.run(plan, { policy });
    expect(before.done).toMatchObject({ status: 'failed', denied_steps: 1 });
    expect(before.steps[0]?.reason).toContain('not one that was approved');
    await plans.system.admin.grants.create({ kind: 'plan', plan_hash: before.done.plan_hash ?? '' });
    expect((await plans.run(plan, { policy })).outputs).toEqual([{ result: 2 }, { result: 3 }]);
    expect((await plans.run({ ...plan, name: 'another' }, { policy })).done).toMatchObject({ denied_steps: 1 });
  });

  test('waits at an ambiguous step until a person resolves it, redrives it or cancels the run', async () => {
    await plans.system.admin.queues.pause('exec');
    const plan = { steps: [{ id: 'effect', tool: 'shell.run', args: { cmd: ['true'] } }, add(1)] };
    const runs = await Promise.all(
      [1, 2, 3, 4].map(() => plans.system.admin.runs.submit({ plan, policy: ALLOW_ALL }).then(({ run_id }) => run_id)),
    );
    const effects = runs.map((run_id) => stepInvocationId(run_id, 0, null));
    await loseWorkerOf(plans.system, effects);
    await eventually(async () => {
      for (const run_id of runs) {
        const [step] = await stepsOf(plans.system.admin, run_id);
        expect(step).toMatchObject({ status: 'ambiguous', reason: expect.stringContaining('resolve or redrive it') });
        expect(await plans.system.admin.runs.get(run_id)).toMatchObject({ status: 'running' });
      }
    });
    const [done, undone, again, dropped] = effects;
    await plans.system.admin.resolve(done ?? '', { outcome: 'succeeded', comment: 'it is there' });
    await plans.system.admin.resolve(undone ?? '', { outcome: 'failed', comment: 'it is not' });
    await plans.system.admin.redrive(again ?? '');
    await plans.system.admin.runs.cancel(runs[3] ?? '');
    await plans.system.admin.queues.resume('exec');
    const ends = await Promise.all(runs.map((run_id) => plans.system.admin.runs.wait(run_id, { timeout_s: 60 })));
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed', 'canceled']);
    expect(await plans.system.admin.get(dropped ?? '')).toMatchObject({ status: 'ambiguous' });
  });

  test('that is paused starts no further step, and goes on when resumed', async () => {
    await plans.system.admin.queues.pause('builtin');
    const { run_id } = await plans.system.admin.runs.submit({ plan: { steps: [add(1), add(2)] } });
    await eventually(async () =>
      expect(statuses(await stepsOf(plans.system.admin, run_id))).toEqual(['queued', 'pending']),
    );
    expect(await plans.system.admin.runs.pause(run_id)).toMatchObject({ status: 'paused' });
    await plans.system.admin.queues.resume('builtin');
    await eventually(async () =>
      expect(await plans.system.admin.runs.get(run_id)).toMatchObject({ completed_steps: 1 }),
    );
    expect(statuses(await stepsOf(plans.system.admin, run_id))).toEqual(['succeeded', 'pending']);
    await expect(plans.system.admin.runs.resume('run_unknown')).rejects.toMatchObject({ status: 404 });
    await plans.system.admin.runs.resume(run_id);
    expect(await plans.system.admin.runs.wait(run_id, { timeout_s: 60 })).toMatchObject({
      status: 'completed',
      completed_steps: 2,
    });
    await expect(plans.system.admin.runs.pause(run_id)).rejects.toMatchObject({ status: 409 });
  });

  test('that is canceled cancels its waiting steps and those that have not begun', async () => {
    await plans.system.admin.queues.pause('builtin');
    const { run_id } = await plans.system.admin.runs.submit({ plan: { steps: [add(1), add(2), add(3)] } });
    await eventually(async () => expect(statuses(await stepsOf(plans.system.admin, run_id))[0]).toBe('queued'));
    await plans.system.admin.runs.cancel(run_id);
    const done = await plans.system.admin.runs.wait(run_id, { timeout_s: 60 });
    await plans.system.admin.queues.resume('builtin');
    expect(done).toMatchObject({ status: 'canceled', canceled_steps: 3, completed_steps: 0 });
    expect(statuses(await stepsOf(plans.system.admin, run_id))).toEqual(['canceled', 'canceled', 'canceled']);
  });

  test('streams the ends of its steps and its own, and a resumed stream goes on where it stopped', async () => {
    const { run_id } = await plans.system.admin.runs.submit({ plan: { steps: [add(1), add(2), add(3)] } });
    const seen: { id: string; what: string }[] = [];
    for await (const { id, event, data } of plans.system.admin.runs.events(run_id))
      seen.push({ id, what: event === 'step' ? `${data.index} ${data.status}` : data.status });
    expect(seen.at(-1)?.what).toBe('completed');
    const ends = seen.filter(({ what }) => what.endsWith('succeeded'));
    expect(ends.map(({ what }) => what)).toEqual(['0 succeeded', '1 succeeded', '2 succeeded']);
    const again: string[] = [];
    for await (const { event, data } of plans.system.admin.runs.events(run_id, { last_event_id: ends[1]?.id }))
      again.push(event === 'step' ? `${data.index} ${data.status}` : data.status);
    expect(again).toEqual(['2 succeeded', 'completed']);
  });
});
