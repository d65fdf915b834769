import { stepInvocationId } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { nanoid } from 'nanoid';
import { describe, expect, test } from 'vitest';
import { settleClaims } from '../claim/settle-claims.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getRun } from '../run/runs.js';
import { liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne } from '../testing/run-one.js';
import { claimPlanRuns, findIdlePlanRuns } from './claim-plan-runs.js';
import { stopPlanRun } from './control-run.js';
import { insertPlanRun } from './insert-plan-run.js';
import { fanOutStep, moveSteps, readItems, type StepMove } from './move-steps.js';
import { findBegun, findMissedEndings, readEndings } from './read-endings.js';
import { listSteps } from './read-steps.js';
import { readMovedSteps } from './step-states.js';

const store = await openTestStore();
const HASH = hashJson(null);

const titleOf = (step: number) => ({ step_id: `s${step}`, name: step === 0 ? 'the first' : null, tool_id: 'x' });

async function submitRun(count: number): Promise<string> {
  const run_id = `run_${nanoid()}`;
  const principal = { tenant: 'acme', actor: 'ann', roles: ['submit' as const] };
  await insertPlanRun(store.query, {
    ...principal,
    run_id,
    name: null,
    plan: { steps: [] },
    plan_hash: HASH,
    policy_hash: HASH,
    inputs: {},
    max_parallel: null,
    webhook_url: null,
    steps: Array.from({ length: count }, (_, step) => titleOf(step)),
  });
  return run_id;
}

const started = (run_id: string, step: number, seq: number): StepMove => ({
  ...{ run_id, step, element: -1, ...titleOf(step), status: 'started', has_invocation: true, reason: null, seq },
});

/** A run of which the first step is under way. */
async function startRun(count = 2) {
  const run_id = await submitRun(count);
  const heard = { run_id, step: 0, element: -1, invocation_id: stepInvocationId(run_id, 0, null) };
  await insertInvocations(store, [newInvocation({ invocation_id: heard.invocation_id, run_id })]);
  await moveSteps(store.query, [started(run_id, 0, 1)]);
  const claimed = await claimOne(store, await liveWorker(store), heard.invocation_id);
  return { run_id, heard, settle: () => settleClaims(store, [newSettlement(claimed)]) };
}

describe('the end of a step', () => {
  test('is read once it exists, with the output if a later step uses it', async () => {
    const { heard, settle } = await startRun();
    expect(await readEndings(store.query, [heard], () => true)).toEqual([]);
    await settle();
    const ending = { ...heard, status: 'succeeded', unresolved: false, error: null };
    expect(await readEndings(store.query, [heard, heard], () => true)).toEqual([{ ...ending, output: { sum: 3 } }]);
    expect(await readEndings(store.query, [heard], () => false)).toEqual([{ ...ending, output: undefined }]);
  });

  test('is found without a signal, because the run counts more ends than were processed', async () => {
    const { run_id, settle } = await startRun();
    const idle = async () => (await findIdlePlanRuns(store, 100)).map((run) => run.run_id);
    await store.db.updateTable('runs').set({ status: 'running' }).where('run_id', '=', run_id).execute();
    expect(await idle()).not.toContain(run_id);
    await settle();
    expect(await idle()).toContain(run_id);
    expect(await findMissedEndings(store.query, [run_id], 10)).toMatchObject([{ run_id, step: 0 }]);
  });

  test('does not end the run, which counts as live itself', async () => {
    const { run_id, settle } = await startRun();
    await settle();
    expect(await getRun(store, 'acme', run_id)).toMatchObject({ completed_steps: 1, finished_at: null });
  });
});

test('a run with steps that are ready and were not started is found', async () => {
  const { run_id } = await startRun();
  await store.db.updateTable('runs').set({ status: 'running' }).where('run_id', '=', run_id).execute();
  await store.db.updateTable('plan_runs').set({ waiting: true }).where('run_id', '=', run_id).execute();
  expect((await findIdlePlanRuns(store, 100)).map((run) => run.run_id)).toContain(run_id);
});

describe('a claimed run', () => {
  const untouched = async (run_id: string) => {
    const [claimed] = await store.transact((query) => claimPlanRuns(query, [run_id]));
    return claimed?.untouched;
  };

  test('is released if the coordinator that has it freezes', async () => {
    const run_id = await submitRun(1);
    const allowed = await store.transact(async (query) => {
      await claimPlanRuns(query, [run_id]);
      return query({ name: 'idle', text: 'SHOW idle_in_transaction_session_timeout' }, []);
    });
    expect(allowed).toEqual([{ idle_in_transaction_session_timeout: '5s' }]);
  });

  test('is untouched until a step was called', async () => {
    const run_id = await submitRun(2);
    expect(await untouched(run_id)).toBe(true);
    await insertInvocations(store, [newInvocation({ invocation_id: stepInvocationId(run_id, 0, null), run_id })]);
    expect(await untouched(run_id)).toBe(false);
  });

  test('is not untouched after a step has moved, or after a turn of the engine', async () => {
    const moved = await submitRun(2);
    await moveSteps(store.query, [{ ...started(moved, 0, 1), status: 'skipped', has_invocation: false }]);
    const had = await submitRun(2);
    await store.db.updateTable('plan_runs').set({ seq: 1 }).where('run_id', '=', had).execute();
    expect([await untouched(moved), await untouched(had)]).toEqual([false, false]);
  });
});

test('a run that is submitted is on the audit, with its plan and its policy', async () => {
  const run_id = await submitRun(1);
  const events = await store.db.selectFrom('audit').selectAll().where('subject', '=', run_id).execute();
  expect(events).toMatchObject([
    { tenant: 'acme', actor: 'ann', event: 'run.submit', detail: { plan_hash: HASH, policy_hash: HASH } },
  ]);
});

test('a run claimed by one coordinator is not given to another', async () => {
  const { run_id } = await startRun();
  await store.transact(async (query) => {
    expect(await claimPlanRuns(query, [run_id])).toHaveLength(1);
    await store.transact(async (other) => expect(await claimPlanRuns(other, [run_id])).toEqual([]));
  });
});

test('steps that moved since a change are read; since the beginning, all that are not pending', async () => {
  const run_id = await submitRun(4);
  await moveSteps(store.query, [started(run_id, 0, 1), started(run_id, 1, 2)]);
  await fanOutStep(store.query, { run_id, step: 2, ...titleOf(2), seq: 3 }, ['a', 'b']);
  await moveSteps(store.query, [{ ...started(run_id, 0, 4), status: 'succeeded' }]);
  const places = async (seq: number) =>
    (await readMovedSteps(store.query, [{ run_id, seq }])).map(({ step, element, status, elements }) => [
      ...[step, element, status, elements],
    ]);
  const [ended, under_way, fanned] = [
    [0, -1, 'succeeded', null],
    [1, -1, 'started', null],
    [2, -1, 'started', 2],
  ];
  expect(await places(0)).toEqual([ended, under_way, fanned]);
  expect(await places(2)).toEqual([ended, fanned]);
  expect(await places(4)).toEqual([]);
  const elements = [0, 1].map((element) => ({ run_id, step: 2, element }));
  expect((await readItems(store.query, elements)).map(({ item }) => item)).toEqual(['a', 'b']);
});

describe('steps that have not moved', () => {
  const listed = async (run_id: string, limit = 10, cursor?: string) => {
    const { items, next_cursor } = await listSteps(store.db, run_id, { limit, cursor });
    const places = items.map(({ index, element, step_id, name, status, reason }) => [
      ...[index, element, step_id, name, status, reason],
    ]);
    return { places, next_cursor };
  };
  const unmoved = (step: number) => [step, null, `s${step}`, titleOf(step).name, 'pending', null];

  test('are listed among the others, page by page', async () => {
    const run_id = await submitRun(4);
    expect((await listed(run_id)).places).toEqual([0, 1, 2, 3].map(unmoved));
    await moveSteps(store.query, [{ ...started(run_id, 2, 1), status: 'succeeded', has_invocation: false }]);
    await fanOutStep(store.query, { run_id, step: 1, ...titleOf(1), seq: 2 }, ['a', 'b']);
    const first = await listed(run_id, 2);
    expect(first.places).toEqual([unmoved(0), [1, 0, 's1', null, 'pending', null]]);
    const second = await listed(run_id, 2, first.next_cursor ?? '');
    expect(second.places).toEqual([
      [1, 1, 's1', null, 'pending', null],
      [2, null, 's2', null, 'succeeded', null],
    ]);
    expect(await listed(run_id, 2, second.next_cursor ?? '')).toEqual({ places: [unmoved(3)], next_cursor: null });
  });

  test('are skipped if the run cannot continue, and started ones are not', async () => {
    const run_id = await submitRun(3);
    const invocation_id = stepInvocationId(run_id, 1, null);
    await insertInvocations(store, [newInvocation({ invocation_id, run_id })]);
    expect(await findBegun(store.query, [stepInvocationId(run_id, 0, null), invocation_id])).toEqual(
      new Set([invocation_id]),
    );
    await fanOutStep(store.query, { run_id, step: 2, ...titleOf(2), seq: 1 }, ['a']);
    await stopPlanRun(store, run_id, 'out of order');
    expect((await listed(run_id)).places).toEqual([
      [0, null, 's0', 'the first', 'skipped', 'out of order'],
      [1, null, 's1', null, 'queued', null],
      [2, 0, 's2', null, 'skipped', 'out of order'],
    ]);
  });
});

describe('calls that are committed ahead of a turn', () => {
  const insert = (run_id: string, seq: number) =>
    insertInvocations(store, [newInvocation({ invocation_id: stepInvocationId(run_id, 0, null), run_id })], {
      turn: [{ run_id, seq }],
    });
  const auditsOf = (run_id: string) =>
    store.db
      .selectFrom('audit')
      .select('event')
      .where('subject', '=', run_id)
      .where('event', '=', 'invocation.submit')
      .execute();

  test('are inserted once, and audited once', async () => {
    const run_id = await submitRun(1);
    expect(await insert(run_id, 0)).toMatchObject({ inserted: 1 });
    expect(await insert(run_id, 0)).toMatchObject({ inserted: 0 });
    expect(await auditsOf(run_id)).toHaveLength(1);
  });

  test('are not inserted if another turn has moved the run on in the meantime', async () => {
    const run_id = await submitRun(1);
    await store.db.updateTable('plan_runs').set({ seq: 1 }).where('run_id', '=', run_id).execute();
    expect(await insert(run_id, 0)).toMatchObject({ inserted: 0 });
    expect(await auditsOf(run_id)).toEqual([]);
  });
});
