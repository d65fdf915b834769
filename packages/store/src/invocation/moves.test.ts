import { canMove, InvocationStatus, isTerminal, type Principal, statusesBefore } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { countOf, STEP_COUNTS } from '../run/tally.js';
import { claimByIds } from '../testing/claim-by-ids.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { cancelInvocations } from './cancel-invocations.js';
import { claimNext } from './claim-invocations.js';
import { expireInvocations } from './expire-invocations.js';
import { insertInvocations } from './insert-invocations.js';
import { promoteDeferred } from './promote-deferred.js';
import { redriveInvocations } from './redrive-invocations.js';
import { rescueInvocations } from './rescue-invocations.js';
import { resolveInvocation } from './resolve-invocation.js';
import { type Settlement, settleInvocations } from './settle-invocations.js';

const store = await openTestStore();
const statuses = InvocationStatus.options;
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const SETTLED = ['succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'queued', 'denied', 'held'] as const;

type Row = { invocation_id: string; from: InvocationStatus; attempt: number };
type Operation = {
  name: string;
  /** Makes every row fit for the operation in all but its status. */
  prepare?: () => Promise<unknown>;
  act(rows: Row[]): Promise<unknown>;
  to: InvocationStatus;
  from: InvocationStatus[];
};

const only =
  (...some: InvocationStatus[]) =>
  (status: InvocationStatus) =>
    some.includes(status);
const update = (change: ReturnType<typeof sql>) => sql`UPDATE invocations SET ${change}`.execute(store.db);

const settle = (status: Settlement['status']): Operation => ({
  name: `settle as ${status}`,
  act: (rows) =>
    settleInvocations(
      store,
      rows.map((row) => newSettlement(row, { status, expires_in_ms: 60_000 })),
    ),
  to: status,
  from: statusesBefore(status).filter(only('running')),
});
/** Rows that any of the rescue's outcomes would fit, but for their status. */
const rescue = (to: InvocationStatus, change: ReturnType<typeof sql>): Operation => ({
  name: `rescue as ${to}`,
  prepare: async () => {
    const worker_id = await liveWorker(store);
    await update(sql`worker_id = ${worker_id}, ${change}`);
    await endLease(store, worker_id);
  },
  act: () => rescueInvocations(store, 100),
  to,
  from: statusesBefore(to).filter(only('running')),
});
const resolve = (outcome: 'succeeded' | 'failed'): Operation => ({
  name: `resolve as ${outcome}`,
  act: async (rows) => {
    for (const row of rows) await resolveInvocation(store, operator, row.invocation_id, { outcome, comment: 'seen' });
  },
  to: outcome,
  from: statusesBefore(outcome).filter(isTerminal),
});

const OPERATIONS: Operation[] = [
  {
    name: 'claim',
    act: async () => claimNext(store, await liveWorker(store), 'exec', 100),
    to: 'running',
    from: statusesBefore('running'),
  },
  ...SETTLED.map(settle),
  rescue('queued', sql`idempotent = true, max_attempts = 100`),
  rescue('failed', sql`idempotent = true, max_attempts = 1`),
  rescue('ambiguous', sql`idempotent = false`),
  rescue('canceled', sql`idempotent = true, cancel_requested_at = now()`),
  {
    name: 'cancel',
    act: () => cancelInvocations(store, operator, {}),
    to: 'canceled',
    // What runs is only marked; its worker ends it.
    from: statusesBefore('canceled').filter((status) => status !== 'running'),
  },
  {
    name: 'expire',
    prepare: () => update(sql`expires_at = now() - interval '1 second'`),
    act: () => expireInvocations(store, 100),
    to: 'expired',
    from: statusesBefore('expired'),
  },
  {
    name: 'promote',
    prepare: () => update(sql`run_at = now() - interval '1 second'`),
    act: () => promoteDeferred(store, 100),
    to: 'queued',
    from: statusesBefore('queued').filter(only('deferred')),
  },
  {
    name: 'redrive',
    act: () => redriveInvocations(store, operator, {}),
    to: 'queued',
    from: statusesBefore('queued').filter(isTerminal),
  },
  {
    name: 'redrive under a quota',
    prepare: () => update(sql`quota_scopes = '{runner:builtin}'`),
    act: () => redriveInvocations(store, operator, {}),
    to: 'deferred',
    from: statusesBefore('deferred').filter(isTerminal),
  },
  resolve('succeeded'),
  resolve('failed'),
];

/** One invocation in every status, each with an attempt on record. */
async function oneOfEach(): Promise<Row[]> {
  const rows = statuses.map((status) => ({ ...newInvocation({ status: 'queued', run_id: RUN }), from: status }));
  await insertInvocations(store, rows, { run: { run_id: RUN, tenant: operator.tenant, actor: 'ann' } });
  await claimByIds(
    store,
    await liveWorker(store),
    rows.map((row) => row.invocation_id),
  );
  for (const { invocation_id, from } of rows)
    await store.db
      .updateTable('invocations')
      .set({ status: from })
      .where('invocation_id', '=', invocation_id)
      .execute();
  await store.db
    .updateTable('runs')
    .set(await counted())
    .execute();
  return rows.map(({ invocation_id, from }) => ({ invocation_id, from, attempt: 1 }));
}

const RUN = 'run_of_each';

/** What the run's counts must be, from the rows themselves. */
async function counted(): Promise<Record<(typeof STEP_COUNTS)[number], number>> {
  const counts = STEP_COUNTS.map((count) => `${countOf('invocations', count)}::int AS ${count}`);
  const { rows } = await sql<
    Record<(typeof STEP_COUNTS)[number], number>
  >`SELECT ${sql.raw(counts.join(', '))}`.execute(store.db);
  if (!rows[0]) throw new Error('nothing was counted');
  return rows[0];
}

async function statusesOf(rows: Row[]): Promise<InvocationStatus[]> {
  const found = await store.db.selectFrom('invocations').select(['invocation_id', 'status']).execute();
  const by_id = new Map(found.map((row) => [row.invocation_id, row.status]));
  return rows.flatMap((row) => by_id.get(row.invocation_id) ?? []);
}

beforeEach(() => sql`TRUNCATE invocations, holds, attempts, results, runs, workers, outbox`.execute(store.db));

describe.each(OPERATIONS)('$name', ({ prepare, act, to, from }) => {
  test(`moves what is ${from.join(', ')} to ${to} and leaves all else alone`, async () => {
    expect(from).not.toEqual([]);
    const rows = await oneOfEach();
    await prepare?.();
    await act(rows);
    const now = await statusesOf(rows);
    expect(now).toEqual(rows.map((row) => (from.includes(row.from) ? to : row.from)));
    for (const [at, row] of rows.entries()) {
      const status = now[at] ?? row.from;
      if (status !== row.from) expect(canMove(row.from, status), `${row.from} → ${status}`).toBe(true);
    }
  });

  test('moves the counts of the run with the steps', async () => {
    const rows = await oneOfEach();
    await prepare?.();
    await act(rows);
    const run = await store.db.selectFrom('runs').select(STEP_COUNTS).executeTakeFirst();
    expect(run).toEqual(await counted());
  });
});

test('every move of the table that is not about holds can be made', () => {
  const made = new Set(OPERATIONS.flatMap(({ from, to }) => from.map((status) => `${status} → ${to}`)));
  const legal = statuses.flatMap((from) => statuses.filter((to) => canMove(from, to)).map((to) => `${from} → ${to}`));
  const missing = legal.filter((move) => !made.has(move));
  expect(missing.filter((move) => !move.startsWith('held'))).toEqual(['queued → failed']);
});
