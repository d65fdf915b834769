import type { KeptFor, Retention } from '@capstan/contracts';
import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { settleClaims } from '../claim/settle-claims.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { appendLogs } from '../log/logs.js';
import { insertInStatus } from '../testing/insert-in-status.js';
import { liveWorker } from '../testing/live-worker.js';
import { logAll } from '../testing/log-all.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, endOne, startOne } from '../testing/run-one.js';
import { removeRecords } from './remove-records.js';
import { removeResults } from './remove-results.js';
import { retentionRules } from './retention-rule.js';

const store = await openTestStore();
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
/** All rules, each until it finds nothing more, of what is in the log. */
const forget = async (installation: KeptFor, own: Retention[] = []) => {
  await logAll(store);
  for (const rule of retentionRules(installation, own)) {
    while ((await removeResults(store, rule, 2)) > 0);
    while ((await removeRecords(store, rule, 2)) > 0);
  }
};

afterEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, logs, runs`.execute(store.db));

describe('retention', () => {
  test('keeps what the budgets of today are counted by', async () => {
    const { invocation_id } = await endOne(store, 'succeeded');
    await age([invocation_id], 0.5);
    await sql`INSERT INTO quota_uses (scope, invocation_id) VALUES ('tenant:acme', ${invocation_id})`.execute(store.db);
    await forget({ records_days: 0.1 });
    expect(await idsIn('invocations')).toEqual([invocation_id]);
    await sql`UPDATE quota_uses SET taken_at = taken_at - interval '1 day'`.execute(store.db);
    await forget({ records_days: 0.1 });
    expect(await idsIn('invocations')).toEqual([]);
  });

  test('forgets what ended long ago with all that hangs on it, and nothing else', async () => {
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

  test('takes the results first: payloads and logs go, their hashes and the calls stay', async () => {
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

  test('leaves the results of a run that goes on', async () => {
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

  test('is by the end that calls came to, and by tenant', async () => {
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

  test('forgets a run as a whole, when the last of its calls may go', async () => {
    const run_id = 'run_1';
    const rows = (['denied', 'expired'] as const).map((status) => ({ ...newInvocation({ run_id }), status }));
    await insertInStatus(store, rows, { run_id, tenant: 'acme', actor: 'ann' });
    await age(
      rows.map(({ invocation_id }) => invocation_id),
      10,
    );
    await sql`UPDATE runs SET finished_at = now() - interval '10 days'`.execute(store.db);
    const keep = (days: number) => [
      { tenant: 'acme', records_days: 5, by_status: { expired: { records_days: days } }, ...WHO },
    ];
    await forget({}, keep(20));
    expect(await idsIn('invocations')).toHaveLength(2);
    await forget({}, keep(9));
    expect(await idsIn('invocations')).toEqual([]);
    expect(await store.db.selectFrom('runs').select('run_id').execute()).toEqual([]);
    const { rows: said } = await sql`SELECT subject FROM audit WHERE event = 'retention.run'`.execute(store.db);
    expect(said).toEqual([{ subject: run_id }]);
  });
});
