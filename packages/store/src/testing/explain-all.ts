import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { vi } from 'vitest';
import type { Store } from '../open-store.js';

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
};
export type Scan = { relation: string; index: string | null; statement: string };

/** Does the work, then answers every scan in the plans of its statements that reads a whole table or a whole index. */
export async function fullScansOf(store: Store, work: () => Promise<unknown>): Promise<Scan[]> {
  const asked = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const statements = new Map<string, unknown[]>();
  for (const [text, values] of asked.mock.calls as unknown[][])
    if (typeof text === 'string' && /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/i.test(text))
      statements.set(text, Array.isArray(values) ? values : []);
  asked.mockRestore();
  if (statements.size === 0) throw new Error('the work sent no statement');
  return store.db.transaction().execute(async (db) => {
    for (const statement of NEVER_ANALYZED) await db.executeQuery(CompiledQuery.raw(statement));
    const scans: Scan[] = [];
    for (const [statement, values] of statements) {
      const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        CompiledQuery.raw(`EXPLAIN (FORMAT JSON) ${statement}`, values),
      );
      for (const row of rows) scans.push(...fullScans(row['QUERY PLAN'][0].Plan, statement));
    }
    return scans;
  });
}

/**
 * Tables without statistics, as before the first autovacuum. Once a table is known to have a handful of rows, the planner rightly scans it; for an
 * uncounted table it expects more.
 */
const NEVER_ANALYZED = [
  `DELETE FROM pg_statistic WHERE starelid IN (
     SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`,
  `UPDATE pg_class SET reltuples = -1, relpages = 0
     WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace`,
];

function fullScans(node: PlanNode, statement: string): Scan[] {
  const { 'Relation Name': relation, 'Index Name': index = null, 'Node Type': type } = node;
  const isFull =
    relation !== undefined && type.endsWith('Scan') && type !== 'Tid Scan' && node['Index Cond'] === undefined;
  const own = isFull ? [{ relation, index, statement }] : [];
  return [...own, ...(node.Plans ?? []).flatMap((child) => fullScans(child, statement))];
}
