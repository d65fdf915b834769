import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import type { Due } from './ended-calls.js';
import type { RetentionRule } from './retention-rule.js';

/**
 * Deletes the log lines of calls. For tenants without their own rules, only those outside of the daily partitions: a partition is dropped
 * as a whole (see `dropLogDays`), up to a day later, and until then `readLogs` hides lines of calls whose results are gone.
 */
export async function deleteLines(
  db: Db,
  calls: readonly Pick<Due, 'invocation_id' | 'tenant'>[],
  rules: readonly RetentionRule[],
): Promise<void> {
  const owners = new Set(rules.flatMap(({ tenants }) => ('only' in tenants ? [tenants.only] : [])));
  const ids = (own: boolean) =>
    calls.flatMap(({ invocation_id, tenant }) => (owners.has(tenant) === own ? [invocation_id] : []));
  await deleteFrom(db, ['logs'], ids(true));
  await deleteFrom(db, ['logs_kept', 'logs_unplanned'], ids(false));
}

async function deleteFrom(db: Db, tables: readonly string[], ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  for (const table of tables) await sql`DELETE FROM ${sql.table(table)} WHERE invocation_id = ANY (${ids})`.execute(db);
}
