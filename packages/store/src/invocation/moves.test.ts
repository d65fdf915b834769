import { canMove, InvocationStatus, isTerminal, type Principal, statusesBefore } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { claimNext } from '../claim/claim-next.js';
import type { Claimed } from '../claim/claimed.js';
import { rescueClaims } from '../claim/rescue-claims.js';
import { settleClaims } from '../claim/settle-claims.js';
import type { Settlement } from '../claim/settlement.js';
import { countOf, STEP_COUNTS } from '../run/tally.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { cancelInvocations } from './cancel-invocations.js';
import { expireInvocations } from './expire-invocations.js';
import { insertInvocations } from './insert-invocations.js';
import { promoteDeferred } from './promote-deferred.js';
import { redriveInvocations } from './redrive-invocations.js';
import { resolveInvocation } from './resolve-invocation.js';

const store = await openTestStore();
const statuses = InvocationStatus.options;
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const SETTLED = ['succeeded', 'failed', 'timed_out', 'canceled', 'ambiguous', 'queued', 'denied', 'held'] as const;

type Row = Claimed & { from: InvocationStatus };
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
const update = (table: 'invocations' | 'work' | 'claims', change: ReturnType<typeof sql>) =>
  sql`UPDATE ${sql.table(table)} SET ${change}`.execute(store.db);

const settle = (status: Settlement['status']): Operation => ({
  name: `settle as ${status}`,
  act: (rows) =>
    settleClaims(
      store,
      rows.map((row) => newSettlement(row, { status, expires_in_ms: 60_000 })),
    ),
  to: status,
  from: statusesBefore(status).filter(only('running')),
});
/** Rows that any of the rescue's outcomes would fit, but for their status. */
const rescue = (to: InvocationStatus, prepare: () => Promise<unknown>): Operation => ({
  name: `rescue as ${to}`,
  prepare: async () => {
    await prepare();
    for (const { worker_id } of await store.db.selectFrom('workers').select('worker_id').execute())
      await endLease(store, worker_id);
  },
  act: () => rescueClaims(store, 100),
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
  rescue('queued', () => update('invocations', sql`max_attempts = 100`)),
  rescue('failed', () => update('invocations', sql`max_attempts = 1`)),
  rescue('ambiguous', () => update('invocations', sql`idempotent = false`)),
  rescue('canceled', () => update('claims', sql`canceled = ids`)),
  {
    name: 'cancel',
    act: () => cancelInvocations(store, operator, {}),
    to: 'canceled',
    // A running call is only marked; its worker ends it.
    from: statusesBefore('canceled').filter((status) => status !== 'running'),
  },
  {
    name: 'expire',
    prepare: () => update('work', sql`expires_at = now() - interval '1 second'`),
    act: () => expireInvocations(store, 100),
    to: 'expired',
    from: statusesBefore('expired'),
  },
  {
    name: 'promote',
    prepare: () => update('work', sql`run_at = now() - interval '1 second'`),
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
    prepare: () => update('invocations', sql`quota_scopes = '{runner:builtin}'`),
    act: () => redriveInvocations(store, operator, {}),
    to: 'deferred',
    from: statusesBefore('deferred').filter(isTerminal),
  },
  resolve('succeeded'),
  resolve('failed'),
];

/**
 * One invocation in every status, all claimed at once. What waits has left their receipt; what runs is on it, and so is what
 * has ended, because the receipt goes with its last call.
 */
async function oneOfEach(): Promise<Row[]> {
  const rows = statuses.map(() => newInvocation({ run_id: RUN }));
  await insertInvocations(store, rows, { run: { run_id: RUN, tenant: operator.tenant, actor: 'ann' } });
  const claimed = await claimNext(store, await liveWorker(store), 'exec', statuses.length);
  const each = statuses.flatMap((from, at) => claimed.slice(at, at + 1).map((call): Row => ({ ...call, from })));
  expect(new Set(each.map(({ claim_id }) => claim_id)).size).toBe(1);
  for (const row of each) await place(row);
  await store.db
    .updateTable('runs')
    .set(await counted())
    .execute();
  return each;
}

async function place({ invocation_id, claim_id, from }: Row): Promise<void> {
  if (from === 'running') return;
  if (isTerminal(from))
    await sql`INSERT INTO results (invocation_id, attempt, status, worker_id, started_at)
      SELECT ${invocation_id}, 1, ${from}, worker_id, owned_at FROM claims WHERE claim_id = ${claim_id}`.execute(
      store.db,
    );
  else {
    await sql`UPDATE claims SET ids = array_remove(ids, ${invocation_id}), attempts = attempts[2:],
      first_attempts = first_attempts[2:] WHERE claim_id = ${claim_id}`.execute(store.db);
    await sql`INSERT INTO work (invocation_id, seq, tenant, runner, priority, status, attempt)
      SELECT invocation_id, seq, tenant, runner, priority, ${from}, 1 FROM invocations
      WHERE invocation_id = ${invocation_id}`.execute(store.db);
  }
}

const RUN = 'run_of_each';

/** The expected counts of the run, computed from the rows. */
async function counted(): Promise<Record<(typeof STEP_COUNTS)[number], number>> {
  const counts = STEP_COUNTS.map((count) => `${countOf('invocation_states', count)}::int AS ${count}`);
  const { rows } = await sql<
    Record<(typeof STEP_COUNTS)[number], number>
  >`SELECT ${sql.raw(counts.join(', '))}`.execute(store.db);
  if (!rows[0]) throw new Error('nothing was counted');
  return rows[0];
}

async function statusesOf(rows: Row[]): Promise<InvocationStatus[]> {
  const found = await store.db.selectFrom('invocation_states').select(['invocation_id', 'status']).execute();
  const by_id = new Map(found.map((row) => [row.invocation_id, row.status]));
  return rows.flatMap((row) => by_id.get(row.invocation_id) ?? []);
}

beforeEach(() => sql`TRUNCATE invocations, work, claims, holds, attempts, results, runs, workers`.execute(store.db));

describe.each(OPERATIONS)('$name', ({ name, prepare, act, to, from }) => {
  test(`${name} moves what is ${from.join(', ')} to ${to} and leaves all else alone`, async () => {
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

  test(`${name} moves the counts of the run with its steps`, async () => {
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
