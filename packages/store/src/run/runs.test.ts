import { InvocationStatus, type Run } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import type { Settlement } from '../claim/settlement.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { insertInStatus } from '../testing/insert-in-status.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { endOne } from '../testing/run-one.js';
import { getRun, listRuns } from './runs.js';

const store = await openTestStore();
const runOf = (invocation_id: string) => invocation_id.replace('inv_', 'run_');
const operator = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: [] };

describe('a lone invocation', () => {
  test.each<[InvocationStatus, Partial<Run>]>([
    ['queued', { status: 'running', finished_at: null }],
    ['held', { status: 'running', finished_at: null }],
    ['deferred', { status: 'running', finished_at: null }],
    ['denied', { status: 'failed', denied_steps: 1 }],
    ['rejected', { status: 'failed', denied_steps: 1 }],
    ['expired', { status: 'failed', failed_steps: 1 }],
  ])('that is %s answers as a run of one step', async (status, run) => {
    const row = newInvocation();
    await insertInStatus(store, [{ ...row, status }]);
    expect(await getRun(store, 'acme', runOf(row.invocation_id))).toMatchObject({
      run_id: runOf(row.invocation_id),
      kind: 'lone',
      actor: 'ann',
      total_steps: 1,
      completed_steps: 0,
      denied_steps: 0,
      failed_steps: 0,
      ...run,
    });
  });

  test.each<[Settlement['status'], Partial<Run>]>([
    ['succeeded', { status: 'completed', completed_steps: 1 }],
    ['failed', { status: 'failed', failed_steps: 1 }],
    ['timed_out', { status: 'failed', failed_steps: 1 }],
    ['ambiguous', { status: 'failed', failed_steps: 1 }],
    ['canceled', { status: 'canceled' }],
  ])('that %s answers as a run that ended', async (status, run) => {
    const { invocation_id } = await endOne(store, status);
    expect(await getRun(store, 'acme', runOf(invocation_id))).toMatchObject({
      completed_steps: 0,
      failed_steps: 0,
      finished_at: expect.any(String),
      ...run,
    });
  });

  test('that is redriven is not ended any more', async () => {
    const { invocation_id } = await endOne(store, 'failed');
    await redriveInvocations(store, operator, { invocation_id });
    expect(await getRun(store, 'acme', runOf(invocation_id))).toMatchObject({ status: 'running', finished_at: null });
  });
});

describe('a bulk submission', () => {
  const bulk = async (run_id: string, statuses: InvocationStatus[], tenant = 'acme') => {
    await insertInStatus(
      store,
      statuses.map((status) => ({ ...newInvocation({ run_id, tenant }), status })),
      { run_id, tenant, actor: 'ann' },
    );
  };

  test('counts its steps', async () => {
    await bulk('run_each', InvocationStatus.options);
    expect(await getRun(store, 'acme', 'run_each')).toEqual({
      run_id: 'run_each',
      kind: 'bulk',
      status: 'running',
      actor: 'ann',
      mode: 'execution',
      replay_of: null,
      name: null,
      plan_hash: null,
      policy_hash: null,
      reason: null,
      total_steps: 12,
      completed_steps: 1,
      denied_steps: 2,
      failed_steps: 4,
      canceled_steps: 1,
      held_steps: 1,
      skipped_steps: 0,
      created_at: expect.any(String),
      finished_at: null,
    });
  });

  test.each<[string, InvocationStatus[], Run['status']]>([
    ['all succeeded', ['succeeded', 'succeeded'], 'completed'],
    ['one failed', ['succeeded', 'failed'], 'failed'],
    ['one was denied', ['succeeded', 'denied'], 'failed'],
    ['one was canceled', ['succeeded', 'canceled'], 'canceled'],
    ['one still waits', ['failed', 'queued'], 'running'],
  ])('of which %s', async (what, statuses, status) => {
    const run_id = `run_${what.replaceAll(' ', '-')}`;
    await bulk(run_id, statuses);
    expect(await getRun(store, 'acme', run_id)).toMatchObject({ status });
  });

  test('has as many steps as calls it created, without those with known idempotency keys', async () => {
    await insertInvocations(store, [newInvocation({ idempotency_key: 'known' })]);
    const run = { run_id: 'run_partly', tenant: 'acme', actor: 'ann' };
    const rows = ['known', 'new'].map((idempotency_key) => newInvocation({ run_id: run.run_id, idempotency_key }));
    await insertInvocations(store, rows, { run });
    expect(await getRun(store, 'acme', 'run_partly')).toMatchObject({ total_steps: 1, status: 'running' });
  });

  test('has no run under the ids of its invocations', async () => {
    const row = newInvocation({ run_id: 'run_whole' });
    const run = { run_id: 'run_whole', tenant: 'acme', actor: 'ann' };
    await insertInvocations(store, [row], { run });
    expect(await getRun(store, 'acme', runOf(row.invocation_id))).toBeUndefined();
  });
});

describe('the list of runs', () => {
  const listAll = async (tenant: string, limit: number) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { items, next_cursor } = await listRuns(store, tenant, { limit, cursor });
      expect(items.length).toBeLessThanOrEqual(limit);
      seen.push(...items.map((item) => item.run_id));
      cursor = next_cursor ?? undefined;
    } while (cursor !== undefined);
    return seen;
  };

  test('has only the requested kinds', async () => {
    const tenant = 'kinds';
    const lone = newInvocation({ tenant });
    await insertInvocations(store, [lone]);
    const grouped = 'run_kinds';
    const run = { run_id: grouped, tenant, actor: 'ann' };
    await insertInvocations(store, manyInvocations(2, { tenant, run_id: grouped }), { run });
    const listed = async (kind: Run['kind'][]) =>
      (await listRuns(store, tenant, { limit: 10, kind })).items.map(({ run_id }) => run_id);
    expect(await listed(['plan', 'bulk'])).toEqual([grouped]);
    expect(await listed(['lone', 'plan'])).toEqual([runOf(lone.invocation_id)]);
    expect(await listed(['lone', 'bulk'])).toEqual([grouped, runOf(lone.invocation_id)]);
  });

  test('has lone and bulk ones, newest first, each once', async () => {
    const tenant = 'mixed';
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const lone = newInvocation({ tenant });
      await insertInvocations(store, [lone]);
      const run = { run_id: `run_mixed${index}`, tenant, actor: 'ann' };
      await insertInvocations(store, manyInvocations(2, { tenant, run_id: run.run_id }), { run });
      ids.unshift(run.run_id, runOf(lone.invocation_id));
    }
    for (const limit of [1, 3, 8, 9]) expect(await listAll(tenant, limit)).toEqual(ids);
  });

  test('has all runs that were committed together, page by page', async () => {
    const tenant = 'together';
    const rows = manyInvocations(20, { tenant });
    await insertInvocations(store, rows);
    const seen = await listAll(tenant, 3);
    expect(seen).toHaveLength(20);
    expect(seen.toSorted()).toEqual(rows.map((row) => runOf(row.invocation_id)).sort());
  });
});
