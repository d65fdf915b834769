import type { LiveRules } from '@capstan/backbone';
import type { Quota } from '@capstan/contracts';
import type { NewInvocation } from '@capstan/store/invocation';

/** Quotas that deny are checked before the commit; calls under quotas that defer wait until the coordinator counts them. */
export function quotasThat(what: Quota['on_exceed'], rules: LiveRules, rows: NewInvocation[]): Quota[] {
  if (!rows.some((row) => row.quota_scopes)) return [];
  const scopes = new Set(rows.flatMap((row) => row.quota_scopes ?? []));
  return rules.quotas().filter(({ scope, on_exceed }) => on_exceed === what && scopes.has(scope));
}
