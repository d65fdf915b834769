import type { Decision, Quota } from '@capstan/contracts';
import type { Db } from '../open-store.js';
import { budgetsOf, countUsage, limitReached, type Usage } from './count-usage.js';

/** The denial by the first exhausted quota; null if all quotas have room. */
export function denialBy(
  quotas: readonly Quota[],
  usages: ReadonlyMap<string, Usage>,
  cost_units: number,
  decision: Decision,
): Decision | null {
  for (const quota of quotas) {
    const usage = usages.get(quota.scope);
    const limit = usage && limitReached(quota, usage, cost_units);
    if (!limit) continue;
    return {
      ...decision,
      effect: 'deny',
      allowed: false,
      reason: `the quota ${quota.scope} has no room: ${limit} is ${quota.limits[limit]}`,
      rule_matched: `${limit} ${quota.scope}`,
      code: 'QUOTA_EXCEEDED',
    };
  }
  return null;
}

/** Whether the quotas would deny one more call now. Takes no lock and uses up nothing, so a real submission may be decided differently. */
export async function foreseeDenial(
  db: Db,
  quotas: readonly Quota[],
  cost_units: number,
  decision: Decision,
): Promise<Decision | null> {
  const scopes = quotas.map(({ scope }) => scope);
  const counted = await countUsage(db, scopes, { budgets: budgetsOf(quotas) });
  return denialBy(quotas, new Map(counted.map((usage) => [usage.scope, withWaiting(usage)])), cost_units, decision);
}

/** Waiting calls count as live, because they have already been admitted. */
export const withWaiting = (usage: Usage): Usage => ({ ...usage, live: usage.live + usage.waiting });
