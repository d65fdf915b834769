import { holdIdOf, type Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { claimNext } from '../claim/claim-next.js';
import { rescueClaims } from '../claim/rescue-claims.js';
import { settleClaims } from '../claim/settle-claims.js';
import { tellEnded } from '../event/tell-ended.js';
import { endHold } from '../hold/end-hold.js';
import { getHold } from '../hold/read-holds.js';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { getInvocation } from '../invocation/read-invocations.js';
import { migrate } from '../migrate.js';
import type { Store } from '../open-store.js';
import { verifySealedRun } from '../record/verify-sealed-run.js';
import { getRun } from '../run/runs.js';
import { readSeal } from '../seal/read-seal.js';
import { handOver } from '../testing/hand-over.js';
import { insertInStatus } from '../testing/insert-in-status.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { BEFORE, migrateTo, openOldInstallation } from '../testing/open-old-installation.js';
import { openTestStore } from '../testing/open-test-store.js';
import { placesOf } from '../testing/places-of.js';
import { endOne, startOne } from '../testing/run-one.js';

const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const idOf = (name: string) => `inv_${name.padEnd(21, '0')}`;

type Row = Record<string, unknown> & { invocation_id: string; status: string };
type From = 'invocations' | 'invocation_states';

/** The state of each call. Its last worker and start time are kept while it runs and after it has ended. */
async function readStates(store: Store, from: From): Promise<Row[]> {
  const { rows } = await sql<Row>`
    SELECT invocation_id, seq, status, attempt, first_attempt, run_at, available_at, expires_at, cancel_requested_at, finished_at,
      quota_scopes, inputs::text, decision::text, created_at,
      CASE WHEN status NOT IN ('queued', 'deferred', 'held') THEN worker_id END AS worker_id,
      CASE WHEN status NOT IN ('queued', 'deferred', 'held') THEN started_at END AS started_at
    FROM ${sql.table(from)} ORDER BY seq`.execute(store.db);
  return rows;
}

async function readRows(store: Store, table: string, columns: string, where = 'true'): Promise<unknown[]> {
  const { rows } =
    await sql`SELECT ${sql.raw(columns)} FROM ${sql.table(table)} WHERE ${sql.raw(where)} ORDER BY 1, 2`.execute(
      store.db,
    );
  return rows;
}

const RESULT = `invocation_id, attempt, success, payload::text, error, code, declared_side_effects::text, artifacts::text,
  facts::text, duration_ms, exit_code, truncated, input_hash, output_hash, chain_hash, removed_at`;
const UNTOUCHED = ['attempts', 'runs', 'plan_runs', 'steps', 'holds', 'hold_entries', 'seals', 'seal_links', 'audit'];
/** Seals, and the positions of runs in the log, are set by the log. */
const readUntouched = (store: Store) =>
  Promise.all(
    UNTOUCHED.map((table) => readRows(store, table, `to_jsonb(${table}) - '{sealed,end_seq,end_xid}'::text[], 1`)),
  );
const readResults = (store: Store) => readRows(store, 'results', RESULT, 'success IS NOT NULL');
const readWatched = (store: Store) => readRows(store, 'invocations', 'invocation_id, watched', 'watched IS NOT NULL');

async function findMismatches(store: Store): Promise<{ seals: number; mismatches: unknown[]; removed: string[] }> {
  const { rows } = await sql<{ run_id: string }>`SELECT run_id FROM seals WHERE voided_at IS NULL`.execute(store.db);
  const all: Awaited<ReturnType<typeof findMismatches>> = { seals: rows.length, mismatches: [], removed: [] };
  for (const { run_id } of rows) {
    const seal = await readSeal(store.db, run_id);
    if (!seal) throw new Error(`the seal of ${run_id} is gone`);
    for await (const { mismatches, removed } of verifySealedRun(store, seal)) {
      all.mismatches.push(...mismatches);
      all.removed.push(...removed.map(() => run_id));
    }
  }
  return all;
}

describe('an installation that is migrated', () => {
  let store: Store;
  let states: Row[];
  let results: unknown[];
  let untouched: unknown[];

  beforeAll(async () => {
    store = await openOldInstallation();
    states = await readStates(store, 'invocations');
    results = await readResults(store);
    untouched = await readUntouched(store);
    await migrate(store);
  });

  test('has calls in every status', () => {
    expect(new Set(states.map(({ status }) => status)).size).toBe(12);
  });

  test('shows the status of every call as before', async () => {
    expect(await readStates(store, 'invocation_states')).toEqual(states);
  });

  test('has every call in exactly one place', async () => {
    for (const { invocation_id, status } of states) {
      const place = isWaiting(status) ? 'work' : status === 'running' ? 'claims' : 'results';
      expect(await placesOf(store, invocation_id), `${invocation_id} is ${status}`).toEqual([place]);
    }
  });

  test('has kept results, attempts, runs, plans, holds, seals and the audit', async () => {
    expect(await readResults(store)).toEqual(results);
    expect(await readUntouched(store)).toEqual(untouched);
  });

  test('still verifies every seal', async () => {
    const { seals, mismatches, removed } = await findMismatches(store);
    expect(seals).toBeGreaterThan(20);
    expect(mismatches).toEqual([]);
    expect(new Set(removed)).toEqual(new Set([idOf('removed').replace('inv_', 'run_')]));
  });

  test('reports the ends that were not reported yet, once', async () => {
    const told = () => readRows(store, 'events', 'subject, type', `type LIKE 'invocation.%'`);
    const before = await told();
    const rounds = [
      await tellEnded(store, 2, 10_000),
      await tellEnded(store, 2, 10_000),
      await tellEnded(store, 2, 10_000),
    ];
    expect(rounds).toEqual([2, 1, 0]);
    const since = (await told()).filter(
      (event) => !before.some((one) => JSON.stringify(one) === JSON.stringify(event)),
    );
    expect(since).toEqual([
      { subject: idOf('watched-denied'), type: 'invocation.denied' },
      { subject: idOf('watched-untold-url'), type: 'invocation.failed' },
      { subject: idOf('watched-untold'), type: 'invocation.succeeded' },
    ]);
    expect(before).toHaveLength(2);
  });
});

describe('work in progress in a migrated installation', () => {
  test('continues: lost workers are rescued, waiting calls are claimed, and holds are decided', async () => {
    const store = await openOldInstallation();
    await migrate(store);
    const statusOf = async (name: string) => (await getInvocation(store.db, 'acme', idOf(name)))?.status;
    for (const { worker_id } of await store.db.selectFrom('workers').select('worker_id').execute())
      await endLease(store, worker_id);
    expect((await rescueClaims(store, 100)).moved).toHaveLength(5);
    expect(await statusOf('running')).toBe('ambiguous');
    expect(await statusOf('running-canceled')).toBe('canceled');
    expect(await statusOf('running-twice')).toBe('queued');

    await sql`UPDATE work SET available_at = now() WHERE available_at IS NOT NULL`.execute(store.db);
    await sql`UPDATE work SET expires_at = now() + interval '1 hour' WHERE expires_at IS NOT NULL`.execute(store.db);
    const claimed = await claimNext(store, await liveWorker(store), 'exec', 100);
    const attempts = new Map(claimed.map((call) => [call.invocation_id, [call.attempt, call.first_attempt]]));
    expect(attempts.get(idOf('queued'))).toEqual([1, 1]);
    expect(attempts.get(idOf('backing-off'))).toEqual([2, 1]);
    expect(attempts.get(idOf('ready-again'))).toEqual([2, 2]);
    expect(attempts.get(idOf('running-twice'))).toEqual([3, 1]);
    expect(attempts.get(idOf('redriven-waiting'))).toEqual([2, 2]);
    expect(attempts.has(idOf('hold-released'))).toBe(true);
    await settleClaims(
      store,
      claimed.map((call) => newSettlement(call)),
      () => true,
    );
    expect(await store.db.selectFrom('claims').select('claim_id').execute()).toEqual([]);
    const bulk = await getRun(store, 'acme', idOf('bulk-live').replace('inv_', 'run_'));
    expect(bulk).toMatchObject({ status: 'completed', completed_steps: 2 });

    for (const name of ['hold-pending', 'hold-returned']) {
      expect(await getHold(store.db, 'acme', holdIdOf(idOf(name)))).toMatchObject({ status: 'pending' });
      await endHold(store, operator, holdIdOf(idOf(name)), 'reject', null);
      expect(await statusOf(name)).toBe('rejected');
    }
  });
});

test('an installation that is migrated down has all its calls unchanged, and up again shows the same', async () => {
  const store = await openOldInstallation();
  const [states, results, watched, untouched] = [
    await readStates(store, 'invocations'),
    await readResults(store),
    await readWatched(store),
    await readUntouched(store),
  ];
  await migrate(store);
  await migrateTo(store, BEFORE);
  expect(await readStates(store, 'invocations')).toEqual(states.map(withCancelTime));
  expect(await readRows(store, 'results', RESULT)).toEqual(results);
  expect(await readWatched(store)).toEqual(watched);
  expect(await readUntouched(store)).toEqual(untouched);
  await migrate(store);
  expect(await readStates(store, 'invocation_states')).toEqual(states.map(withCancelTime));
  expect(await readResults(store)).toEqual(results);
  expect(await findMismatches(store)).toMatchObject({ mismatches: [] });
});

test('newer calls are migrated down as well: in the queue, running, ended and canceled', async () => {
  const store = await openTestStore();
  const worker_id = await liveWorker(store);
  const { ids: travelling } = await handOver(store);
  const { claimed: running } = await startOne(store);
  const ended = await endOne(store, 'succeeded');
  const canceled = newInvocation({ watched: true });
  await insertInStatus(store, [{ ...canceled, status: 'canceled' }]);
  const { receipt, ids: handed } = await handOver(store, { worker_id, owned: true });
  await cancelInvocations(store, operator, { invocation_id: handed[0] ?? '' });
  await migrateTo(store, BEFORE);
  const { rows } = await sql<Row>`
    SELECT invocation_id, status, attempt, watched, worker_id IS NOT NULL AS begun, cancel_requested_at IS NOT NULL AS asked
    FROM invocations`.execute(store.db);
  const stands = new Map(rows.map(({ invocation_id, ...row }) => [invocation_id, row]));
  const plain = { attempt: 1, watched: null, begun: true, asked: false };
  expect(stands.get(travelling[0] ?? '')).toEqual({ ...plain, status: 'queued', attempt: 0, begun: false });
  expect(stands.get(running.invocation_id)).toEqual({ ...plain, status: 'running' });
  expect(stands.get(receipt.ids[0] ?? '')).toEqual({ ...plain, status: 'running', asked: true });
  expect(stands.get(ended.invocation_id)).toEqual({ ...plain, status: 'succeeded' });
  expect(stands.get(canceled.invocation_id)).toEqual({
    ...{ status: 'canceled', attempt: 0, watched: true, begun: false, asked: false },
  });
  expect(await readRows(store, 'attempts', 'invocation_id, outcome')).toEqual([
    { invocation_id: ended.invocation_id, outcome: 'succeeded' },
  ]);
});

/** When somebody asked to cancel what runs is not kept on its receipt, only that somebody did. */
const withCancelTime = (row: Row): Row =>
  row.status === 'running' && row.cancel_requested_at !== null
    ? { ...row, cancel_requested_at: expect.any(String) }
    : row;

const isWaiting = (status: string): boolean => ['queued', 'deferred', 'held'].includes(status);
