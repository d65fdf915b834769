import { stepInvocationId } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { nanoid } from 'nanoid';
import { describe, expect, test } from 'vitest';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { settleInvocations } from '../invocation/settle-invocations.js';
import { getRun } from '../run/runs.js';
import { liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne } from '../testing/run-one.js';
import { claimPlanRuns, findIdlePlanRuns } from './claim-plan-runs.js';
import { endSteps, findMissedEndings } from './end-steps.js';
import { insertPlanRun } from './insert-plan-run.js';
import { moveSteps } from './move-steps.js';
import { findReadySteps, readStepStates } from './ready-steps.js';

const store = await openTestStore();
const HASH = hashJson(null);

/** A run whose first step has ended, and whose second needs it. */
async function startRun() {
  const run_id = `run_${nanoid()}`;
  const principal = { tenant: 'acme', actor: 'ann', roles: ['submit' as const] };
  await insertPlanRun(store.db, {
    ...principal,
    run_id,
    name: null,
    plan: { steps: [] },
    plan_hash: HASH,
    policy_hash: HASH,
    inputs: {},
    max_parallel: null,
    webhook_url: null,
    steps: [0, 1].map((unmet) => ({ step_id: `s${unmet}`, name: null, tool_id: 'x', unmet })),
  });
  const invocation_id = stepInvocationId(run_id, 0, null);
  await insertInvocations(store, [newInvocation({ invocation_id, run_id })]);
  const key = { run_id, step: 0, element: -1 };
  await moveSteps(store.query, [{ ...key, status: 'started', has_invocation: true, reason: null, seq: 1 }]);
  const claimed = await claimOne(store, await liveWorker(store), invocation_id);
  return { run_id, key, invocation_id, settle: () => settleInvocations(store, [newSettlement(claimed)]) };
}

describe('the end of a step', () => {
  test('makes those ready that wait for it alone, once, however often it is heard of', async () => {
    const { run_id, key, invocation_id, settle } = await startRun();
    const heard = [1, 2].map((seq) => ({ ...key, invocation_id, seq, waits: true, dependents: [1] }));
    expect(await endSteps(store.query, heard, 10)).toEqual({ ended: [], ready: [], left: [] });
    await settle();
    expect(await endSteps(store.query, heard, 10)).toEqual({
      ended: [{ ...key, status: 'succeeded', error: null }],
      ready: [{ run_id, step: 1, element: -1, item: null }],
      left: [],
    });
    expect(await endSteps(store.query, heard, 10)).toEqual({ ended: [], ready: [], left: [] });
    expect(await readStepStates(store.query, [{ run_id, step: 0, output: true }])).toMatchObject([
      { status: 'succeeded', output: { sum: 3 }, outputs: null },
    ]);
  });

  test('makes more ready than can be started now: the rest is found later', async () => {
    const { run_id, key, invocation_id, settle } = await startRun();
    await settle();
    const heard = [{ ...key, invocation_id, seq: 1, waits: true, dependents: [1] }];
    expect(await endSteps(store.query, heard, 0)).toMatchObject({ ready: [], left: [run_id] });
    expect(await findReadySteps(store.query, [{ run_id, room: 10 }])).toMatchObject([{ run_id, step: 1 }]);
  });

  test('that no signal told of is found, because the run counts more than was seen', async () => {
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

test('a run that one has is not given to another', async () => {
  const { run_id } = await startRun();
  await store.transact(async (query) => {
    expect(await claimPlanRuns(query, [run_id])).toHaveLength(1);
    await store.transact(async (other) => expect(await claimPlanRuns(other, [run_id])).toEqual([]));
  });
});
