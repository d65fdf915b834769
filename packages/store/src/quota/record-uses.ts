import { DEFAULT_TENANT, type Quota, type QuotaLimit } from '@capstan/contracts';
import { sql } from 'kysely';
import { recordEvents } from '../event/record-events.js';
import type { Db } from '../open-store.js';
import { type Usage, usedOf } from './count-usage.js';

export type Use = { scope: string; invocation_id: string; cost_units: number };

/** Calls that were not inserted, because their idempotency key existed, are not counted. */
export async function recordUses(db: Db, uses: Use[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    INSERT INTO quota_uses (scope, invocation_id, cost_units)
    SELECT u.scope, u.invocation_id, u.cost_units
    FROM json_to_recordset(${JSON.stringify(uses)}::json) AS u (scope text, invocation_id text, cost_units float8)
      JOIN invocations i ON i.invocation_id = u.invocation_id
    ON CONFLICT DO NOTHING`.execute(db);
}

const WARN_AT = 0.8;
const WINDOWS = {
  max_concurrent: 'hour',
  calls_per_minute: 'minute',
  calls_per_day: 'day',
  max_runtime_ms_per_day: 'day',
  max_cost_units_per_day: 'day',
} as const satisfies Record<QuotaLimit, string>;
const BUDGETS = ['calls_per_minute', 'calls_per_day', 'max_runtime_ms_per_day', 'max_cost_units_per_day'] as const;
const LIMITS = ['max_concurrent', ...BUDGETS] as const;

/**
 * Warns at 80 %, once for each window of a minute or day, and once an hour for limits on concurrency. If calls wait for room (on_exceed),
 * full concurrency is normal and causes no warning.
 */
export async function warnNear(db: Db, quotas: readonly Quota[], usages: ReadonlyMap<string, Usage>): Promise<void> {
  for (const { scope, limits, on_exceed } of quotas) {
    const usage = usages.get(scope);
    for (const limit of on_exceed === 'deny' ? LIMITS : BUDGETS) {
      const max = limits[limit];
      if (!usage || max === undefined || max === 0 || usedOf(usage, limit) < WARN_AT * max) continue;
      const { rows } = await sql`
        INSERT INTO quota_warnings (scope, limit_name, window_start) VALUES (${scope}, ${limit}, date_trunc(${WINDOWS[limit]}, now()))
        ON CONFLICT DO NOTHING RETURNING scope`.execute(db);
      if (rows.length === 0) continue;
      await recordEvents(db, [
        {
          tenant: tenantOf(scope),
          type: 'quota.warning',
          subject: scope,
          data: { scope, limit, used: toThousandths(usedOf(usage, limit)), max },
        },
      ]);
    }
  }
}

/** Hides floating-point noise in sums of fractions, because people read this. */
const toThousandths = (used: number): number => Math.round(used * 1000) / 1000;

/** The tenant to warn: the one that the scope names. Scopes that span tenants concern the operators of the installation. */
function tenantOf(scope: string): string {
  const [kind = '', ...rest] = scope.split(':');
  const name = rest.join(':');
  if (kind === 'tenant') return name;
  const [tenant = DEFAULT_TENANT, actor] = name.split('/');
  return kind === 'actor' && actor !== undefined ? tenant : DEFAULT_TENANT;
}

/** Windows last a day at most, so older uses are not needed. */
export async function forgetUses(db: Db): Promise<void> {
  await sql`DELETE FROM quota_uses WHERE taken_at < now() - interval '2 days'`.execute(db);
  await sql`DELETE FROM quota_warnings WHERE window_start < now() - interval '2 days'`.execute(db);
}
