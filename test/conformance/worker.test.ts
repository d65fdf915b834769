import type { Backbone } from '@capstan/backbone';
import type { EffectivePolicy, Principal } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { Runner, RunOutcome } from '@capstan/runners';
import { putPolicy } from '@capstan/store/policy';
import { startWorker, type Worker } from '@capstan/worker';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { commitWork, submitWork, type Work } from './insert-work.js';
import { onEachQueue } from './on-each-queue.js';
import { query } from './query.js';
import { startTestCoordinator } from './start-test-coordinator.js';

const admin: Principal = { tenant: 'default', actor: 'ann', roles: ['admin'], key_id: 'key_1' };
const policy: EffectivePolicy = {
  boundary: 'deny_by_default',
  rules: [{ id: 'sums', effect: 'allow', match: { tool: ['cap:test_math:*'] } }],
};

/** A sum that the worker's policy allows. */
async function newSum({ store, catalog }: Backbone): Promise<Work> {
  const { policy_hash } = await putPolicy(store, admin, 'default', policy);
  const descriptor_hash = catalog.get('cap:test_math:add')?.descriptor_hash ?? expect.fail('there is no such tool');
  return { runner: 'builtin', inputs: { a: 1, b: 2 }, policy_hash, descriptor_hash };
}

/** A worker whose tool runs until it is stopped (`blocks`), or ends at once. */
async function startTestWorker(backbone: Backbone, { blocks = false, concurrency = 4 } = {}) {
  const begun: string[] = [];
  const runner: Runner = {
    type: 'builtin',
    run: ({ invocation_id, signal }): RunOutcome | Promise<RunOutcome> => {
      begun.push(invocation_id);
      const done: RunOutcome = { success: true, payload: { result: 3 } };
      if (!blocks) return done;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(done)));
    },
  };
  const worker: Worker = await startWorker(backbone, {
    runner_types: ['builtin'],
    concurrency: () => concurrency,
    lease_ms: 1500,
    drain_ms: 0,
    wedge_ms: 60_000,
    runners: new Map([['builtin', runner]]),
    redactor: createRedactor({ values: [] }),
    onWedged: () => {},
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= worker.stop();
    return stopped;
  };
  onTestFinished(stop);
  return { begun, stop };
}

onEachQueue((open, servers) => {
  const states = async (ids: string[]) => {
    const text = 'SELECT status, attempt FROM invocation_states WHERE invocation_id = ANY ($1)';
    return query(servers.database_url, text, [ids]);
  };

  test('delivers every call to one of several workers, which starts it once', async () => {
    const backbone = await open();
    const sum = await newSum(backbone);
    startTestCoordinator(backbone);
    const workers = [await startTestWorker(await open()), await startTestWorker(await open())];
    let handed = 0;
    const ids: string[] = [];
    await eventually(async () => {
      const committed = await commitWork(backbone, [sum, sum]);
      committed.tell();
      ids.push(...committed.ids);
      handed += committed.deliveries.length;
      return handed >= 50;
    });
    await eventually(async () => {
      const ended = await states(ids);
      expect(ended.filter(({ status }) => status === 'succeeded')).toHaveLength(ids.length);
    });
    expect(workers.flatMap(({ begun }) => begun).sort()).toEqual(ids.sort());
  });

  test('gets back the running and waiting calls of a worker that stops, and another worker runs them', async () => {
    const backbone = await open();
    const sum = await newSum(backbone);
    const stopping = await startTestWorker(await open(), { blocks: true, concurrency: 1 });
    const ids = await submitWork(backbone, [sum, sum, sum]);
    await eventually(() => stopping.begun.length === 1);
    await stopping.stop();
    expect(stopping.begun).toHaveLength(1);
    expect((await states(ids)).map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
    const receipts = await query(servers.database_url, 'SELECT FROM claims WHERE owned_at IS NOT NULL');
    expect(receipts).toEqual([]);

    startTestCoordinator(backbone);
    const next = await startTestWorker(await open());
    await eventually(async () =>
      expect((await states(ids)).map(({ status }) => status)).toEqual(ids.map(() => 'succeeded')),
    );
    expect(next.begun.toSorted()).toEqual(ids.sort());
  });
});
