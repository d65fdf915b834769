import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { getInvocation, listAttempts } from '../invocation/read-invocations.js';
import { getRun } from '../run/runs.js';
import { handOver } from '../testing/hand-over.js';
import { holdOpen, untilBlocked } from '../testing/hold-open.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { placesOf } from '../testing/places-of.js';
import { claimOne, startOne } from '../testing/run-one.js';
import { claimNext } from './claim-next.js';
import { ownClaims } from './own-claims.js';
import { rescueClaims } from './rescue-claims.js';
import { settleClaims } from './settle-claims.js';

// Two processes act on the same call: the second starts while the first is in the middle of its transaction.
const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const read = (id: string) => getInvocation(store.db, 'acme', id);
const cancel = (invocation_id: string) => cancelInvocations(store, operator, { invocation_id });
const completes = () => true;

afterEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers, runs`.execute(store.db));

describe('a cancel', () => {
  test('during a claim from work marks the call at the worker', async () => {
    const { invocation_id } = await insertOne();
    const worker_id = await liveWorker(store);
    const taking = await holdOpen(store, (within) => claimNext(within, worker_id, 'exec', 1));
    expect(taking.answer).toHaveLength(1);
    const canceled = cancel(invocation_id);
    await untilBlocked(store);
    await taking.commit();
    expect(await canceled).toEqual([{ invocation_id, status: 'running' }]);
    expect(await canceledOn(worker_id)).toEqual([invocation_id]);
  });

  test('during the start of a call marks it at the worker', async () => {
    const { receipt, ids } = await handOver(store);
    const [invocation_id = ''] = ids;
    const worker_id = await liveWorker(store);
    const owning = await holdOpen(store, (within) => ownClaims(within, worker_id, [receipt.claim_id]));
    const canceled = cancel(invocation_id);
    await untilBlocked(store);
    await owning.commit();
    expect(await canceled).toEqual([{ invocation_id, status: 'running' }]);
    expect(await canceledOn(worker_id)).toEqual([invocation_id]);
  });

  test('during the end of the last call of a receipt finds nothing to cancel', async () => {
    const { claimed } = await startOne(store);
    const ending = await holdOpen(store, (within) => settleClaims(within, [newSettlement(claimed)], completes));
    const canceled = cancel(claimed.invocation_id);
    await untilBlocked(store);
    await ending.commit();
    expect(await canceled).toEqual([]);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'succeeded' });
  });

  test('during the return of a retry to work ends the call there', async () => {
    const { claimed } = await startOne(store);
    const retry = newSettlement(claimed, { status: 'queued', backoff_ms: 60_000 });
    const returning = await holdOpen(store, (within) => settleClaims(within, [retry]));
    const canceled = cancel(claimed.invocation_id);
    await untilBlocked(store);
    await returning.commit();
    expect(await canceled).toEqual([{ invocation_id: claimed.invocation_id, status: 'canceled' }]);
    expect(await placesOf(store, claimed.invocation_id)).toEqual(['results']);
  });

  test('during the rescue of a call ends it in work', async () => {
    const { worker_id, claimed } = await startOne(store);
    const { invocation_id } = claimed;
    await endLease(store, worker_id);
    // Rescue stops where it records the lost attempt.
    const obstacle = await holdOpen(store, ({ db }) =>
      sql`INSERT INTO attempts (invocation_id, attempt, worker_id, started_at, outcome)
        VALUES (${invocation_id}, 1, ${worker_id}, now(), 'lost')`.execute(db),
    );
    const rescued = rescueClaims(store, 10);
    await untilBlocked(store);
    const canceled = cancel(invocation_id);
    await untilBlocked(store, 2);
    await obstacle.rollback();
    expect(await rescued).toMatchObject({ ids: [invocation_id] });
    expect(await canceled).toEqual([{ invocation_id, status: 'canceled' }]);
    expect(await placesOf(store, invocation_id)).toEqual(['results']);
  });

  test('of a run does not deadlock with the end of one of its calls', async () => {
    const run = { run_id: 'run_1', tenant: 'acme', actor: 'ann' };
    const [first, second] = [newInvocation({ run_id: run.run_id }), newInvocation({ run_id: run.run_id })];
    await insertInvocations(store, [first, second], { run });
    const ending = await claimOne(store, await liveWorker(store), first.invocation_id);
    const counting = await holdOpen(store, ({ db }) => sql`SELECT FROM runs FOR UPDATE`.execute(db));
    const canceled = cancelInvocations(store, operator, { run_id: run.run_id });
    await untilBlocked(store);
    const settled = settleClaims(store, [newSettlement(ending)], completes);
    await untilBlocked(store, 2);
    await counting.commit();
    expect((await canceled).map(({ status }) => status).sort()).toEqual(['canceled', 'running']);
    expect(await settled).toMatchObject([{ status: 'succeeded' }]);
    expect(await getRun(store, 'acme', run.run_id)).toMatchObject({ completed_steps: 1, canceled_steps: 1 });
  });

  test('finds calls in work, on a receipt without an owner, and on that of a worker', async () => {
    const waiting = await insertOne();
    const { ids } = await handOver(store);
    const { worker_id, claimed } = await startOne(store);
    const [travelling = ''] = ids;
    const canceled = await cancelInvocations(store, operator, {});
    expect(new Map(canceled.map((one) => [one.invocation_id, one.status]))).toEqual(
      new Map([
        [waiting.invocation_id, 'canceled'],
        [travelling, 'canceled'],
        [claimed.invocation_id, 'running'],
      ]),
    );
    for (const id of [waiting.invocation_id, travelling]) {
      expect(await placesOf(store, id)).toEqual(['results']);
      expect(await read(id)).toMatchObject({ status: 'canceled', attempt: 0, result: null });
    }
    expect(await canceledOn(worker_id)).toEqual([claimed.invocation_id]);
  });
});

describe('a call that a cancel is ending', () => {
  /** The cancel stops where it writes the end. */
  const cancelSlowly = async (invocation_id: string) => {
    const obstacle = await holdOpen(store, ({ db }) =>
      sql`INSERT INTO results (invocation_id, attempt, status) VALUES (${invocation_id}, 0, 'expired')`.execute(db),
    );
    const canceled = cancel(invocation_id);
    await untilBlocked(store);
    return { canceled, goOn: obstacle.rollback };
  };

  test('is not claimed from work', async () => {
    const { invocation_id } = await insertOne();
    const { canceled, goOn } = await cancelSlowly(invocation_id);
    expect(await claimNext(store, await liveWorker(store), 'exec', 1)).toEqual([]);
    await goOn();
    expect(await canceled).toEqual([{ invocation_id, status: 'canceled' }]);
    expect(await placesOf(store, invocation_id)).toEqual(['results']);
  });

  test('is not started by the worker that its receipt reaches', async () => {
    const { receipt, ids } = await handOver(store);
    const [invocation_id = ''] = ids;
    const { canceled, goOn } = await cancelSlowly(invocation_id);
    const owned = ownClaims(store, await liveWorker(store), [receipt.claim_id]);
    await untilBlocked(store, 2);
    await goOn();
    expect(await canceled).toEqual([{ invocation_id, status: 'canceled' }]);
    expect(await owned).toEqual([]);
    expect(await placesOf(store, invocation_id)).toEqual(['results']);
  });
});

describe('a rescue', () => {
  test('skips calls that are being settled, and does not move them later', async () => {
    const { worker_id, claimed } = await startOne(store);
    await endLease(store, worker_id);
    const ending = await holdOpen(store, (within) => settleClaims(within, [newSettlement(claimed)]));
    expect((await rescueClaims(store, 10)).moved).toEqual([]);
    await ending.commit();
    expect((await rescueClaims(store, 10)).moved).toEqual([]);
    expect(await placesOf(store, claimed.invocation_id)).toEqual(['results']);
    expect(await read(claimed.invocation_id)).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  test('sees the result of a settlement that is committed after the rescue began', async () => {
    const { worker_id, claimed } = await startOne(store);
    await endLease(store, worker_id);
    await whileReadersOfWorkersWait(async (letPass) => {
      // Its first statement has its snapshot and has not reached the receipt.
      const rescued = rescueClaims(store, 10);
      await untilBlocked(store);
      expect(await settleClaims(store, [newSettlement(claimed)])).toMatchObject([{ status: 'succeeded' }]);
      await letPass();
      expect(await rescued).toMatchObject({ ids: [], ended: [], moved: [] });
    });
    expect(await placesOf(store, claimed.invocation_id)).toEqual(['results']);
    expect(await listAttempts(store.db, claimed.invocation_id)).toMatchObject([{ attempt: 1, outcome: 'succeeded' }]);
  });

  test('refuses the settlement that waits for it, and the call runs again', async () => {
    const { worker_id, claimed } = await startOne(store);
    const { invocation_id } = claimed;
    await endLease(store, worker_id);
    const obstacle = await holdOpen(store, ({ db }) =>
      sql`INSERT INTO work (invocation_id, seq, tenant, runner, priority, status)
        VALUES (${invocation_id}, 0, 'acme', 'exec', 0, 'held')`.execute(db),
    );
    const rescued = rescueClaims(store, 10);
    await untilBlocked(store);
    const settled = settleClaims(store, [newSettlement(claimed)], completes);
    await untilBlocked(store, 2);
    await obstacle.rollback();
    expect(await rescued).toMatchObject({ ids: [invocation_id] });
    expect(await settled).toEqual([null]);
    expect(await placesOf(store, invocation_id)).toEqual(['work']);
    expect(await listAttempts(store.db, invocation_id)).toMatchObject([{ attempt: 1, outcome: 'refused' }]);
    expect(await claimOne(store, await liveWorker(store), invocation_id)).toMatchObject({ attempt: 2 });
  });
});

async function insertOne() {
  const row = newInvocation();
  await insertInvocations(store, [row]);
  return row;
}

async function canceledOn(worker_id: string): Promise<string[]> {
  const rows = await store.db.selectFrom('claims').select('canceled').where('worker_id', '=', worker_id).execute();
  return rows.flatMap(({ canceled }) => canceled);
}

/** Meanwhile, every reader of `workers` blocks within its statement until it is released. */
async function whileReadersOfWorkersWait(act: (letPass: () => Promise<void>) => Promise<void>): Promise<void> {
  await sql`ALTER TABLE workers RENAME TO real_workers`.execute(store.db);
  await sql`CREATE FUNCTION passes() RETURNS boolean LANGUAGE plpgsql VOLATILE AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END $$`.execute(store.db);
  await sql`CREATE VIEW workers AS SELECT * FROM real_workers WHERE passes()`.execute(store.db);
  const gate = await holdOpen(store, ({ db }) => sql`SELECT pg_advisory_xact_lock(1)`.execute(db));
  try {
    await act(gate.commit);
  } finally {
    await sql`DROP VIEW workers`.execute(store.db);
    await sql`DROP FUNCTION passes`.execute(store.db);
    await sql`ALTER TABLE real_workers RENAME TO workers`.execute(store.db);
  }
}
