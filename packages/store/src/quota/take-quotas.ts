import type { Quota } from '@capstan/contracts';
import { sql } from 'kysely';
import type { NewInvocation } from '../invocation/insert-invocations.js';
import type { Db } from '../open-store.js';
import { addCall, budgetsOf, countUsage, type Usage } from './count-usage.js';
import { denialBy, withWaiting } from './denial-by.js';
import type { Use } from './record-uses.js';

export type TakenQuotas = { uses: Use[]; usages: Map<string, Usage> };

/**
 * Decides exactly for which of `rows` there is room: the scopes are locked until the transaction ends, so nobody else counts in the
 * meantime. The other rows become denials. Returns what to record once the rows are inserted.
 */
export async function takeQuotas(db: Db, rows: NewInvocation[], quotas: readonly Quota[]): Promise<TakenQuotas> {
  const scopes = quotas.map(({ scope }) => scope).sort();
  // One after the other and in order, so that two transactions that need the same scopes do not deadlock.
  for (const scope of scopes)
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`capstan:quota:${scope}`}, 0))`.execute(db);
  const counted = await countUsage(db, scopes, { budgets: budgetsOf(quotas) });
  const usages = new Map(counted.map((usage) => [usage.scope, withWaiting(usage)]));
  const known = await knownKeys(db, rows);
  const uses: Use[] = [];
  for (const row of rows) {
    if ((row.status !== 'queued' && row.status !== 'deferred') || known.has(keyOf(row))) continue;
    const mine = quotas.filter(({ scope }) => row.quota_scopes?.includes(scope));
    const cost_units = row.cost_units ?? 0;
    if (deny(row, mine, usages, cost_units)) continue;
    for (const { scope } of mine) {
      const usage = usages.get(scope);
      if (usage) addCall(usage, cost_units);
      uses.push({ scope, invocation_id: row.invocation_id, cost_units });
    }
  }
  return { uses, usages };
}

const keyOf = ({ tenant, idempotency_key }: { tenant: string; idempotency_key: string | null }) =>
  JSON.stringify([tenant, idempotency_key]);

/** A repeated submission gets its earlier answer, whatever the quotas say now. */
async function knownKeys(db: Db, rows: NewInvocation[]): Promise<Set<string>> {
  const keyed = rows.flatMap(({ tenant, idempotency_key }) =>
    idempotency_key === null ? [] : [{ tenant, idempotency_key }],
  );
  if (keyed.length === 0) return new Set();
  const { rows: known } = await sql<{ tenant: string; idempotency_key: string }>`
    SELECT i.tenant, i.idempotency_key
    FROM json_to_recordset(${JSON.stringify(keyed)}::json) AS k (tenant text, idempotency_key text)
      JOIN invocations i ON i.tenant = k.tenant AND i.idempotency_key = k.idempotency_key AND i.idempotency_key IS NOT NULL`.execute(
    db,
  );
  return new Set(known.map(keyOf));
}

function deny(
  row: NewInvocation,
  quotas: readonly Quota[],
  usages: ReadonlyMap<string, Usage>,
  cost_units: number,
): boolean {
  const decision = denialBy(quotas, usages, cost_units, row.decision);
  if (!decision) return false;
  row.status = 'denied';
  // The denial does not use up the idempotency key, so that the same call can be admitted later.
  row.idempotency_key = null;
  row.decision = decision;
  return true;
}
