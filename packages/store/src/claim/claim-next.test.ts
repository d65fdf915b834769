import type { Principal } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { insertInvocations, type NewInvocation } from '../invocation/insert-invocations.js';
import { getInvocation, listAttempts } from '../invocation/read-invocations.js';
import { setPaused } from '../queue/pause-queue.js';
import { endLease, liveWorker } from '../testing/live-worker.js';
import { manyInvocations, newInvocation } from '../testing/new-invocation.js';
import { newSettlement } from '../testing/new-settlement.js';
import { openTestStore } from '../testing/open-test-store.js';
import { claimOne } from '../testing/run-one.js';
import { stopWorker } from '../worker/worker-lease.js';
import { claimNext } from './claim-next.js';
import type { Claimed } from './claimed.js';
import { settleClaims } from './settle-claims.js';

const store = await openTestStore();
const operator: Principal = { key_id: 'key_1', tenant: 'acme', actor: 'ann', roles: ['operate'] };
const idsOf = (rows: { invocation_id: string }[]) => rows.map((row) => row.invocation_id);
const insert = async (...rows: NewInvocation[]) => {
  await insertInvocations(store, rows);
  return idsOf(rows);
};

beforeEach(() => sql`TRUNCATE invocations, work, claims, attempts, results, workers, queues`.execute(store.db));

const claim = (worker_id: string) => claimNext(store, worker_id, 'exec', 100);

describe('a claim', () => {
  test('starts an attempt, with everything that a worker needs', async () => {
    const row = newInvocation({ session_id: 's', inputs: { deep: [1] } });
    await insert(row);
    const worker_id = await liveWorker(store);
    const [claimed] = await claim(worker_id);
    const { decision, idempotency_key, webhook_url, status, run_at, delay_ms, expires_in_ms, ...brought } = row;
    expect(claimed).toEqual({
      ...brought,
      claim_id: expect.stringMatching(/^clm_/),
      attempt: 1,
      first_attempt: 1,
      retry_backoff_ms: null,
      watched: false,
      followed: false,
      traceparent: null,
      waited_s: expect.any(Number),
    });
    expect(await getInvocation(store.db, 'acme', row.invocation_id)).toMatchObject({ status: 'running', attempt: 1 });
    expect(await listAttempts(store.db, row.invocation_id)).toMatchObject([
      { attempt: 1, worker_id, ended_at: null, outcome: null, error: null },
    ]);
  });

  test('marks calls whose end concerns a quota or a webhook', async () => {
    const [, counted, watched] = await insert(
      newInvocation(),
      newInvocation({ quota_scopes: ['tenant:acme'] }),
      newInvocation({ watched: true }),
    );
    const claimed = await claim(await liveWorker(store));
    const followed = claimed.filter((one) => one.followed).map((one) => one.invocation_id);
    expect(new Set(followed)).toEqual(new Set([counted, watched]));
  });

  test('finds no call twice', async () => {
    await insert(newInvocation());
    const worker_id = await liveWorker(store);
    expect(await claim(worker_id)).toHaveLength(1);
    expect(await claim(worker_id)).toEqual([]);
  });

  test.each([
    { what: 'was never registered', get: async () => 'wrk_unknown' },
    {
      what: 'lost its lease',
      get: async () => {
        const worker_id = await liveWorker(store);
        await endLease(store, worker_id);
        return worker_id;
      },
    },
    {
      what: 'was stopped',
      get: async () => {
        const worker_id = await liveWorker(store);
        await stopWorker(store, worker_id);
        return worker_id;
      },
    },
  ])('by a worker that $what is refused', async ({ get }) => {
    await insert(newInvocation());
    expect(await claim(await get())).toEqual([]);
    expect(await claim(await liveWorker(store))).toHaveLength(1);
  });

  test('skips expired calls, even if no sweep has ended them yet', async () => {
    const [late, fresh] = await insert(newInvocation({ expires_in_ms: 1 }), newInvocation({ expires_in_ms: 60_000 }));
    await sql`UPDATE work SET expires_at = now() WHERE invocation_id = ${late}`.execute(store.db);
    expect(idsOf(await claim(await liveWorker(store)))).toEqual([fresh]);
  });

  test('counts the next attempt after a return', async () => {
    const [id = ''] = await insert(newInvocation());
    const worker_id = await liveWorker(store);
    await settleClaims(store, [newSettlement(await claimOne(store, worker_id, id), { status: 'queued' })]);
    expect(await claim(worker_id)).toMatchObject([{ attempt: 2, first_attempt: 1 }]);
  });
});

describe('claims in turn', () => {
  test('give a lower priority first, equal ones in the order of submission', async () => {
    const rows = [5, 0, -3, 5, 0, -1_000_000, 1_000_000].map((priority) => newInvocation({ priority }));
    await insert(...rows);
    const worker_id = await liveWorker(store);
    const claimed: Claimed[] = [];
    for (const _ of rows) claimed.push(...(await claimNext(store, worker_id, 'exec', 1)));
    const order = [5, 2, 1, 4, 0, 3, 6].map((at) => rows[at]?.invocation_id);
    expect(idsOf(claimed)).toEqual(order);
  });

  test('return only calls of their runner type, and no more than requested', async () => {
    await insert(...manyInvocations(5), ...manyInvocations(5, { runner: 'builtin' }));
    const worker_id = await liveWorker(store);
    expect(await claimNext(store, worker_id, 'exec', 3)).toHaveLength(3);
    const rest = await claimNext(store, worker_id, 'exec', 10);
    expect(rest.map((row) => row.runner)).toEqual(['exec', 'exec']);
    expect(await claimNext(store, worker_id, 'browser', 10)).toEqual([]);
  });

  test('return nothing from a paused queue, from the moment it is paused', async () => {
    await insert(newInvocation(), newInvocation({ runner: 'builtin' }));
    const worker_id = await liveWorker(store);
    await setPaused(store, operator, 'exec', true);
    expect(await claimNext(store, worker_id, 'exec', 10)).toEqual([]);
    expect(await claimNext(store, worker_id, 'builtin', 10)).toHaveLength(1);
    await setPaused(store, operator, 'exec', false);
    expect(await claimNext(store, worker_id, 'exec', 10)).toHaveLength(1);
  });

  test('by four workers at once return each of 2,000 exactly once', async () => {
    const ids = await insert(...manyInvocations(2000));
    const claimAll = async () => {
      const worker_id = await liveWorker(store);
      const mine: string[] = [];
      for (;;) {
        const claimed = await claimNext(store, worker_id, 'exec', 37);
        if (claimed.length === 0) return mine;
        mine.push(...idsOf(claimed));
      }
    };
    const shares = await Promise.all([claimAll(), claimAll(), claimAll(), claimAll()]);
    expect(shares.flat().sort()).toEqual(ids.sort());
    const { rows } = await sql<{
      attempts: number;
    }>`SELECT sum(attempt)::int AS attempts FROM invocation_states`.execute(store.db);
    expect(rows).toEqual([{ attempts: 2000 }]);
  });

  test('leave a retry until its backoff has passed, then take it before the others', async () => {
    const [retry = '', other = ''] = await insert(newInvocation(), newInvocation({ priority: -1 }));
    const worker_id = await liveWorker(store);
    const again = newSettlement(await claimOne(store, worker_id, retry), { status: 'queued', backoff_ms: 60_000 });
    await settleClaims(store, [again]);
    expect(idsOf(await claimNext(store, worker_id, 'exec', 10))).toEqual([other]);

    const [late] = await insert(newInvocation({ priority: -1 }));
    await sql`UPDATE work SET available_at = now() WHERE invocation_id = ${retry}`.execute(store.db);
    expect(idsOf(await claimNext(store, worker_id, 'exec', 1))).toEqual([retry]);
    expect(idsOf(await claimNext(store, worker_id, 'exec', 1))).toEqual([late]);
  });
});

describe('between tenants', () => {
  const flood = (tenant: string, count: number) => manyInvocations(count, { tenant });
  const tenantsOf = (claimed: Claimed[]) => claimed.map((row) => row.tenant);

  test('a single call of one comes next, however many another has waiting', async () => {
    await insert(...flood('acme', 500));
    await insert(newInvocation({ tenant: 'globex' }));
    const worker_id = await liveWorker(store);
    const turn = { last: '' };
    const first = await claimNext(store, worker_id, 'exec', 1, turn);
    const second = await claimNext(store, worker_id, 'exec', 1, turn);
    expect(tenantsOf([...first, ...second]).sort()).toEqual(['acme', 'globex']);
  });

  test('a claim of many is shared evenly, and unused shares go to the others', async () => {
    await insert(...flood('acme', 50), ...flood('globex', 3), ...flood('initech', 50));
    const claimed = await claimNext(store, await liveWorker(store), 'exec', 30);
    const count = (tenant: string) => tenantsOf(claimed).filter((one) => one === tenant).length;
    expect(claimed).toHaveLength(30);
    expect([count('globex'), Math.abs(count('acme') - count('initech')) <= 1]).toEqual([3, true]);
  });

  test('all are served in turn when there are more of them than slots', async () => {
    const tenants = Array.from({ length: 7 }, (_, at) => `tenant-${at}`);
    for (const tenant of tenants) await insert(...flood(tenant, 4));
    const worker_id = await liveWorker(store);
    const turn = { last: '' };
    const served: string[] = [];
    for (let round = 0; round < 7; round += 1)
      served.push(...tenantsOf(await claimNext(store, worker_id, 'exec', 2, turn)));
    expect(served.toSorted()).toEqual([...tenants, ...tenants].toSorted());
  });

  test('every call of every tenant is claimed in the end, exactly once', async () => {
    const ids = await insert(...flood('acme', 40), ...flood('globex', 7), ...flood('initech', 1));
    const worker_id = await liveWorker(store);
    expect(idsOf(await claimNext(store, worker_id, 'exec', 100)).sort()).toEqual(ids.sort());
    expect(await claimNext(store, worker_id, 'exec', 100)).toEqual([]);
  });
});
