import { DAY_MS, type KeptFor, type Retention } from '@capstan/contracts';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { artifactStorage } from '../artifact/artifact-place.js';
import { deleteUnusedArtifacts } from '../artifact/delete-unused.js';
import { settleClaims } from '../claim/settle-claims.js';
import { deleteOldEvents } from '../event/fan-out-events.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { appendLogs } from '../log/logs.js';
import { deleteOldSessions } from '../session/delete-old-sessions.js';
import { fullScansOf } from '../testing/explain-all.js';
import { holdOpen } from '../testing/hold-open.js';
import { insertInStatus } from '../testing/insert-in-status.js';
import { liveWorker } from '../testing/live-worker.js';
import { logAll } from '../testing/log-all.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, endOne, startOne } from '../testing/run-one.js';
import { recordsWalk } from './remove-records.js';
import { resultsWalk } from './remove-results.js';
import { runsWalk } from './remove-runs.js';
import { type RetentionRule, retentionRules } from './retention-rule.js';
import type { RetentionWalk } from './walk.js';

const store = await openTestStore();
/** One row; none but in installations from before there was a log; only deliveries that are pending. */
const SMALL = ['log_cursor', 'seals', 'webhook_deliveries_due'];
const WHO = { updated_by: 'root', created_at: '', updated_at: '' };

const age = async (ids: string[], days: number) => {
  const then = sql`now() - ${days} * interval '1 day'`;
  await sql`UPDATE invocations SET created_at = ${then} WHERE invocation_id = ANY (${ids})`.execute(store.db);
  await sql`UPDATE results SET finished_at = ${then} WHERE invocation_id = ANY (${ids})`.execute(store.db);
};
const idsIn = async (table: 'invocations' | 'attempts' | 'results' | 'logs') => {
  const rows = await store.db.selectFrom(table).select('invocation_id').execute();
  return rows.map((row) => row.invocation_id).sort();
};
const withoutPayload = async () => {
  const { rows } = await sql<{ invocation_id: string }>`
    SELECT invocation_id FROM results WHERE payload IS NULL AND removed_at IS NOT NULL`.execute(store.db);
  return rows.map(({ invocation_id }) => invocation_id);
};
/** An invocation that was tried twice: the first attempt is on record by itself, the second with the result. */
const endSecondAttempt = async () => {
  const first = await endOne(store, 'queued');
  const second = await claimOne(store, await liveWorker(store), first.invocation_id);
  await settleClaims(store, [newSettlement(second)]);
  return second;
};
/** One round, a few calls at a time, of what is in the log. */
const walkAll = async (walk: RetentionWalk, rules: RetentionRule[], limit = 4) => {
  let looks = 1;
  while ((await walk.step(store, rules, limit)).more) looks++;
  return looks;
};
const forget = async (installation: KeptFor, own: Retention[] = []) => {
  await logAll(store);
  const rules = retentionRules(installation, own);
  await walkAll(resultsWalk(), rules);
  await walkAll(runsWalk(), rules);
  await walkAll(recordsWalk(), rules);
};

/** A seal from before there was a log. */
const sealOf = (run_id: string) =>
  sql`INSERT INTO seals (run_id, generation, tenant, root, count, sealed_at, seal_hash)
    VALUES (${run_id}, 1, 'acme', 'root', 1, now(), 'hash')`.execute(store.db);
/** A run of calls that ended so many days ago. */
const endRun = async (run_id: string, statuses: ('denied' | 'expired')[], days: number) => {
  const rows = statuses.map((status) => ({ ...newInvocation({ run_id }), status }));
  await insertInStatus(store, rows, { run_id, tenant: 'acme', actor: 'ann' });
  await age(
    rows.map(({ invocation_id }) => invocation_id),
    days,
  );
  await sql`UPDATE runs SET finished_at = now() - ${days} * interval '1 day' WHERE run_id = ${run_id}`.execute(
    store.db,
  );
};
const runsLeft = async () => {
  const rows = await store.db.selectFrom('runs').select('run_id').execute();
  return rows.map(({ run_id }) => run_id).sort();
};

afterEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, logs, runs, seals`.execute(store.db));

describe('retention', () => {
  test("keeps calls that count towards today's budgets", async () => {
    const { invocation_id } = await endOne(store, 'succeeded');
    await age([invocation_id], 0.5);
    await sql`INSERT INTO quota_uses (scope, invocation_id) VALUES ('tenant:acme', ${invocation_id})`.execute(store.db);
    await forget({ records_days: 0.1 });
    expect(await idsIn('invocations')).toEqual([invocation_id]);
    await sql`UPDATE quota_uses SET taken_at = taken_at - interval '1 day'`.execute(store.db);
    await forget({ records_days: 0.1 });
    expect(await idsIn('invocations')).toEqual([]);
  });

  test('deletes old calls with everything that belongs to them, and no other rows', async () => {
    const [old, fresh] = [await endSecondAttempt(), await endSecondAttempt()];
    const { claimed: running } = await startOne(store);
    const waiting = newInvocation();
    await insertInvocations(store, [waiting]);
    const all = [old, fresh, running, waiting].map((row) => row.invocation_id);
    await appendLogs(
      store,
      all.map((invocation_id) => ({ invocation_id, attempt: 1, seq: 1, stream: 'stdout', text: 'line' })),
    );
    await age(
      [old, running, waiting].map((row) => row.invocation_id),
      40,
    );
    await forget({ records_days: 30 });
    const kept = all.filter((id) => id !== old.invocation_id).sort();
    expect(await idsIn('invocations')).toEqual(kept);
    expect(await idsIn('logs')).toEqual(kept);
    expect(await idsIn('attempts')).toEqual([fresh.invocation_id]);
    expect(await idsIn('results')).toEqual([fresh.invocation_id]);
  });

  test('removes results first: payloads and logs go, hashes and calls stay', async () => {
    const [old, young] = [await endOne(store, 'succeeded'), await endOne(store, 'succeeded')];
    const line = { attempt: 1, seq: 1, stream: 'stdout' as const, text: 'line' };
    await appendLogs(
      store,
      [old, young].map(({ invocation_id }) => ({ ...line, invocation_id })),
    );
    await age([old.invocation_id], 8);
    await forget({ results_days: 7, records_days: 30 });
    expect(await withoutPayload()).toEqual([old.invocation_id]);
    expect(await idsIn('logs')).toEqual([young.invocation_id]);
    expect(await idsIn('invocations')).toHaveLength(2);
  });

  test('keeps the results of a run that is still active', async () => {
    const run_id = 'run_live';
    await insertInvocations(store, [newInvocation({ run_id })], { run: { run_id, tenant: 'acme', actor: 'ann' } });
    const step = await endOne(store, 'succeeded');
    await sql`UPDATE invocations SET run_id = ${run_id} WHERE invocation_id = ${step.invocation_id}`.execute(store.db);
    await age([step.invocation_id], 8);
    await forget({ results_days: 7 });
    expect(await withoutPayload()).toEqual([]);
    await sql`UPDATE runs SET finished_at = now()`.execute(store.db);
    await forget({ results_days: 7 });
    expect(await withoutPayload()).toEqual([step.invocation_id]);
  });

  test('depends on the status of a call, and on its tenant', async () => {
    const ends = ['denied', 'canceled', 'ambiguous', 'rejected', 'expired', 'timed_out'] as const;
    const rows = ['acme', 'globex'].flatMap((tenant) =>
      ends.map((status) => ({ ...newInvocation({ tenant }), status })),
    );
    await insertInStatus(store, rows);
    await age(
      rows.map(({ invocation_id }) => invocation_id),
      10,
    );
    const acme = {
      tenant: 'acme',
      records_days: null,
      by_status: { denied: { records_days: 3 }, expired: { records_days: 20 } },
    };
    await forget({ records_days: 9 }, [{ ...acme, ...WHO }]);
    const left = await store.db.selectFrom('invocation_states').select(['tenant', 'status']).execute();
    expect(left.map(({ tenant, status }) => `${tenant} ${status}`).sort()).toEqual(
      ends
        .filter((status) => status !== 'denied')
        .map((status) => `acme ${status}`)
        .sort(),
    );
  });

  test('deletes a run as a whole, when the last of its calls may be removed', async () => {
    const run_id = 'run_1';
    await endRun(run_id, ['denied', 'expired'], 10);
    const keep = (days: number) => [
      { tenant: 'acme', records_days: 5, by_status: { expired: { records_days: days } }, ...WHO },
    ];
    await forget({}, keep(20));
    expect(await idsIn('invocations')).toHaveLength(2);
    await forget({}, keep(9));
    expect(await idsIn('invocations')).toEqual([]);
    expect(await runsLeft()).toEqual([]);
    const { rows: said } = await sql`SELECT subject FROM audit WHERE event = 'retention.run'`.execute(store.db);
    expect(said).toEqual([{ subject: run_id }]);
  });

  test('reads kept calls once, and afterwards only those that are still to be removed', async () => {
    const endMany = (count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await endOne(store, 'succeeded')).invocation_id));
    const kept = await endMany(12);
    const due = await endMany(5);
    await age([...kept, ...due], 8);
    await logAll(store);
    await sql`UPDATE invocations SET tenant = 'globex' WHERE invocation_id = ANY (${kept})`.execute(store.db);
    const rules = retentionRules({ results_days: 7 }, [{ tenant: 'globex', results_days: null, ...WHO }]);
    const walk = resultsWalk();
    expect(await walkAll(walk, rules)).toBe(5);
    expect((await withoutPayload()).sort()).toEqual(due.sort());

    const young = await endMany(1);
    expect(await walkAll(walk, rules)).toBe(1);
    await age(young, 8);
    expect(await walk.step(store, rules, 4)).toEqual({ count: 1, more: false });
    // Changed rules restart the walk.
    expect(await walkAll(walk, retentionRules({ results_days: 7 }, []))).toBe(5);
    expect(await withoutPayload()).toHaveLength(18);
  });

  test('does not pass ends that an open transaction may still add', async () => {
    const open = await holdOpen(store, (within) => endOne(within, 'succeeded'));
    const other = await endOne(store, 'succeeded');
    await age([other.invocation_id], 8);
    const walk = resultsWalk();
    const rules = retentionRules({ results_days: 7 }, [{ tenant: 'nobody', results_days: 1, ...WHO }]);
    expect(await walk.step(store, rules, 10)).toEqual({ count: 0, more: false });
    await open.commit();
    await age([open.answer.invocation_id], 8);
    expect(await walk.step(store, rules, 10)).toEqual({ count: 2, more: false });
  });

  test('deletes calls that ended before the log existed, which have no position in it', async () => {
    const { invocation_id } = await endOne(store, 'succeeded');
    await age([invocation_id], 8);
    await sql`UPDATE results SET xid = NULL`.execute(store.db);
    await sealOf(invocation_id.replace(/^inv_/, 'run_'));
    expect(await resultsWalk().step(store, retentionRules({ results_days: 7 }, []), 10)).toEqual({
      count: 1,
      more: false,
    });
  });

  test('deletes runs that ended before the log existed', async () => {
    await endRun('run_sealed', ['denied'], 10);
    await sql`UPDATE results SET xid = NULL`.execute(store.db);
    await sql`UPDATE runs SET end_xid = NULL, end_seq = NULL`.execute(store.db);
    await sealOf('run_sealed');
    await forget({ records_days: 9 });
    expect(await runsLeft()).toEqual([]);
  });

  test('reads runs that are kept for ever once, and comes back to those that are still to be removed', async () => {
    await endRun('run_kept', ['denied', 'expired'], 10);
    await endRun('run_due', ['denied'], 10);
    await endRun('run_young', ['denied'], 1);
    await logAll(store);
    const rules = retentionRules({ records_days: 5 }, [
      { tenant: 'acme', by_status: { expired: { records_days: null } }, ...WHO },
    ]);
    const walk = runsWalk();
    expect(await walk.step(store, rules, 1)).toEqual({ count: 0, more: true });
    expect(await walk.step(store, rules, 1)).toEqual({ count: 1, more: true });
    expect(await walk.step(store, rules, 1)).toEqual({ count: 0, more: false });
    expect(await runsLeft()).toEqual(['run_kept', 'run_young']);
    const { rows: calls } = await sql<{ invocation_id: string }>`
      SELECT invocation_id FROM invocations WHERE run_id = 'run_young'`.execute(store.db);
    await age(
      calls.map(({ invocation_id }) => invocation_id),
      10,
    );
    await sql`ALTER TABLE runs DISABLE TRIGGER USER`.execute(store.db);
    await sql`UPDATE runs SET finished_at = now() - interval '10 days' WHERE run_id = 'run_young'`.execute(store.db);
    await sql`ALTER TABLE runs ENABLE TRIGGER USER`.execute(store.db);
    expect(await walk.step(store, rules, 1)).toMatchObject({ count: 1 });
    expect(await runsLeft()).toEqual(['run_kept']);
  });

  test('scans no table and no index completely, however much is kept', async () => {
    const { invocation_id } = await endOne(store, 'succeeded');
    await age([invocation_id], 40);
    await endRun('run_old', ['denied'], 40);
    const scans = await fullScansOf(store, async () => {
      await forget({ results_days: 20, records_days: 30 }, [{ tenant: 'globex', records_days: 10, ...WHO }]);
      for (const tenants of [{ only: 'globex' }, { except: ['globex'] }]) {
        await deleteOldEvents(store, 30 * DAY_MS, tenants, 10);
        await deleteOldSessions(store, 30 * DAY_MS, tenants);
      }
      await deleteUnusedArtifacts(store, artifactStorage(null), 10);
    });
    expect(await idsIn('invocations')).toEqual([]);
    expect(await runsLeft()).toEqual([]);
    expect(scans.filter(({ relation, index }) => !SMALL.includes(relation) && !SMALL.includes(index ?? ''))).toEqual(
      [],
    );
  });
});
