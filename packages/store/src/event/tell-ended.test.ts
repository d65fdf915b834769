import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { rescueClaims } from '../claim/rescue-claims.js';
import { cancelInvocations } from '../invocation/cancel-invocations.js';
import { expireInvocations } from '../invocation/expire-invocations.js';
import { insertInvocations } from '../invocation/insert-invocations.js';
import { redriveInvocations } from '../invocation/redrive-invocations.js';
import { resolveInvocation } from '../invocation/resolve-invocation.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne, endOne } from '../testing/run-one.js';
import { settleAndTell } from '../testing/settle-and-tell.js';
import { tellEnded } from './tell-ended.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const tell = () => tellEnded(store, 10, 10_000);
/** With its own URL, so that no endpoint is needed. */
const watched = { webhook_url: 'https://hooks.example/' };
const told = async (subject: string) => {
  const events = await store.db.selectFrom('events').select('type').where('subject', '=', subject).execute();
  return events.map(({ type }) => type);
};

beforeEach(() =>
  sql`TRUNCATE invocations, work, claims, attempts, results, workers, ends_to_tell, events`.execute(store.db),
);

describe('the end of a watched call', () => {
  test('is reported once', async () => {
    const { invocation_id } = await endOne(store, 'succeeded', watched);
    await endOne(store, 'succeeded');
    expect([await tell(), await tell()]).toEqual([1, 0]);
    expect(await told(invocation_id)).toEqual(['invocation.succeeded']);
  });

  test('is reported for a call that is denied at submission', async () => {
    const row = newInvocation({ ...watched, status: 'denied' });
    await insertInvocations(store, [row]);
    await tell();
    expect(await told(row.invocation_id)).toEqual(['invocation.denied']);
  });

  test('is reported again when a person resolves it', async () => {
    const { invocation_id } = await endOne(store, 'ambiguous', watched);
    await tell();
    await resolveInvocation(store, operator, invocation_id, { outcome: 'succeeded', comment: 'I looked' });
    await tell();
    expect(await told(invocation_id)).toEqual(['invocation.ambiguous', 'invocation.succeeded']);
  });
});

describe('a watched call that is redriven before its end was reported', () => {
  const redriven = async () => {
    const { invocation_id } = await endOne(store, 'failed', { ...watched, max_attempts: 1 });
    await redriveInvocations(store, operator, { invocation_id });
    return invocation_id;
  };

  test('is not reported until it ends again', async () => {
    const id = await redriven();
    await tell();
    expect(await told(id)).toEqual([]);
    const claimed = await claimOne(store, await liveWorker(store), id);
    await settleAndTell(store, [newSettlement(claimed)]);
    await tell();
    expect(await told(id)).toEqual(['invocation.succeeded']);
  });

  test('is reported once, as canceled, if it is canceled in work', async () => {
    const id = await redriven();
    await cancelInvocations(store, operator, { invocation_id: id });
    await tell();
    expect(await told(id)).toEqual(['invocation.canceled']);
  });

  test('is reported once, as expired, if it expires in work', async () => {
    const id = await redriven();
    await sql`UPDATE work SET expires_at = now()`.execute(store.db);
    await expireInvocations(store, 10);
    await tell();
    expect(await told(id)).toEqual(['invocation.expired']);
  });

  test('is reported once, as failed, if its last attempt is rescued', async () => {
    const id = await redriven();
    const worker_id = await liveWorker(store);
    await claimOne(store, worker_id, id);
    await endLease(store, worker_id);
    expect(await rescueClaims(store, 10)).toMatchObject({ ended: [id] });
    await tell();
    expect(await told(id)).toEqual(['invocation.failed']);
  });

  test('is reported once, as canceled, if it is returned after a cancel', async () => {
    const id = await redriven();
    const claimed = await claimOne(store, await liveWorker(store), id);
    await cancelInvocations(store, operator, { invocation_id: id });
    expect(await settleAndTell(store, [newSettlement(claimed, { status: 'queued' })])).toEqual([true]);
    await tell();
    expect(await told(id)).toEqual(['invocation.canceled']);
  });
});
