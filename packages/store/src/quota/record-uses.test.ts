import type { Principal, Quota, QuotaLimits } from '@capstan/contracts';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseSecretKeys } from '../secret/secret-keys.js';
import { openTestStore } from '../testing/open-test-store.js';
import { insertWebhook } from '../webhook/webhooks.js';
import { warnNear } from './record-uses.js';

const store = await openTestStore();
const keys = parseSecretKeys('a'.repeat(64));
for (const tenant of ['default', 'acme', 'globex']) {
  const admin: Principal = { key_id: 'key_1', tenant, actor: 'ann', roles: ['admin'] };
  await insertWebhook(store, keys, admin, { url: 'https://a.example/', events: ['*'], kind: 'standard' });
}

const quotaOf = (scope: string, limits: QuotaLimits, on_exceed: Quota['on_exceed'] = 'deny'): Quota => ({
  scope,
  limits,
  on_exceed,
  updated_by: 'ann',
  created_at: '2026-01-02T03:04:05Z',
  updated_at: '2026-01-02T03:04:05Z',
});
/** With so many calls today, and as many at this moment. */
const warn = (quota: Quota, calls: number) =>
  store.db.transaction().execute((db) => {
    const { scope } = quota;
    const none = { waiting: 0, minute: 0, runtime_ms: 0, typical_ms: 0, cost_units: 0 };
    return warnNear(db, [quota], new Map([[scope, { scope, live: calls, day: calls, ...none }]]));
  });
const told = async () => {
  const { rows } = await sql<{ tenant: string; limit: string; used: number }>`
    SELECT tenant, data ->> 'limit' AS limit, (data ->> 'used')::int AS used FROM events ORDER BY at`.execute(store.db);
  return rows;
};

beforeEach(async () => {
  for (const table of ['events', 'quota_warnings']) await sql`DELETE FROM ${sql.table(table)}`.execute(store.db);
});

describe('a quota that is nearly used up', () => {
  test.each([
    ['tenant:acme', 'acme'],
    ['actor:acme/ann', 'acme'],
    ['actor:ann', 'default'],
    ['actor:svc:ann', 'default'],
    ['actor:acme/svc:ann', 'acme'],
    ['tool:ext:bank/refund', 'default'],
    ['source:mcp', 'default'],
    ['runner:exec', 'default'],
  ])('of %s is told to tenant %s alone', async (scope, tenant) => {
    await warn(quotaOf(scope, { calls_per_day: 10 }), 8);
    expect(await told()).toEqual([{ tenant, limit: 'calls_per_day', used: 8 }]);
  });

  test('is reported once, from 80 % on', async () => {
    const quota = quotaOf('tenant:acme', { calls_per_day: 10 });
    for (const calls of [7, 8, 9]) await warn(quota, calls);
    expect(await told()).toMatchObject([{ used: 8 }]);
  });

  test('is reported with readable numbers', async () => {
    const scope = 'tenant:acme';
    const usage = { scope, live: 0, day: 0, waiting: 0, minute: 0, typical_ms: 0, cost_units: 0.1 + 0.2 };
    const quota = quotaOf(scope, { max_runtime_ms_per_day: 3000, max_cost_units_per_day: 0.3 });
    const usages = new Map([[scope, { ...usage, runtime_ms: 2795.6040000000003 }]]);
    await store.db.transaction().execute((db) => warnNear(db, [quota], usages));
    const { rows } = await sql<{ used: string }>`SELECT data ->> 'used' AS used FROM events ORDER BY used`.execute(
      store.db,
    );
    expect(rows.map(({ used }) => used)).toEqual(['0.3', '2795.604']);
  });

  test('of concurrent calls is reported if the next call would be denied, and not if it would wait', async () => {
    await warn(quotaOf('tenant:acme', { max_concurrent: 5 }, 'defer'), 5);
    expect(await told()).toEqual([]);
    for (const calls of [4, 5]) await warn(quotaOf('tenant:acme', { max_concurrent: 5 }), calls);
    expect(await told()).toEqual([{ tenant: 'acme', limit: 'max_concurrent', used: 4 }]);
  });
});
