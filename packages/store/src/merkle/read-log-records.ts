import { BESIDE_LOG, LOG_COLUMNS, type LogRecord, type LogTable, type TextRow } from '@capstan/integrity';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../open-store.js';
import { textOf, VOTES } from './record-sql.js';

/** The current state of a record, and its seq in the log; null if it has not ended. */
export type StoredRecord = LogRecord & { seq: string | null };

const texts = (table: LogTable, alias: string): RawBuilder<unknown> =>
  sql.raw(
    [
      ...LOG_COLUMNS[table].map((column) => `${textOf(table, alias, column)} AS "${column}"`),
      ...(BESIDE_LOG[table] ?? []).map((column) => `${alias}."${column}"::text AS "${column}"`),
    ].join(', '),
  );

type Keyed<Key extends string> = TextRow & Record<Key, string>;

export async function readRunRecord(db: Db, run_id: string): Promise<StoredRecord | undefined> {
  const { rows: runs } = await sql<TextRow>`
    SELECT ${texts('runs', 'n')}, end_seq::text FROM runs n WHERE run_id = ${run_id}`.execute(db);
  const [run] = runs;
  if (!run) return undefined;
  const { end_seq, ...row } = run;
  const { rows: plan_runs } = await sql<TextRow>`
    SELECT ${texts('plan_runs', 'p')} FROM plan_runs p WHERE run_id = ${run_id}`.execute(db);
  const { rows: steps } = await sql<TextRow>`
    SELECT ${texts('steps', 's')} FROM steps s WHERE run_id = ${run_id} ORDER BY s.step, s.element`.execute(db);
  const { rows: calls } = await sql<TextRow>`
    SELECT invocation_id FROM invocations WHERE run_id = ${run_id} ORDER BY seq`.execute(db);
  return { kind: 'run', id: run_id, tables: { runs: [row], plan_runs, steps, calls }, seq: end_seq ?? null };
}

/** In the order of the ids, without those that have been deleted. */
export async function readInvocationRecords(db: Db, ids: readonly string[]): Promise<StoredRecord[]> {
  if (ids.length === 0) return [];
  const { rows: invocations } = await sql<Keyed<'invocation_id'>>`
    SELECT ${texts('invocations', 'i')} FROM invocations i WHERE invocation_id = ANY (${ids})`.execute(db);
  const { rows: results } = await sql<Keyed<'of' | 'log_seq'>>`
    SELECT ${texts('results', 'r')}, invocation_id AS of, seq::text AS log_seq FROM results r
    WHERE invocation_id = ANY (${ids})`.execute(db);
  const { rows: attempts } = await sql<Keyed<'of'>>`
    SELECT ${texts('attempts', 'a')}, invocation_id AS of FROM attempts a WHERE invocation_id = ANY (${ids})
    ORDER BY a.attempt`.execute(db);
  const { rows: holds } = await sql<Keyed<'of'>>`
    SELECT ${texts('holds', 'h')}, invocation_id AS of FROM holds h WHERE invocation_id = ANY (${ids})`.execute(db);
  const { rows: entries } = await sql<Keyed<'of'>>`
    SELECT ${texts('hold_entries', 'e')}, h.invocation_id AS of FROM holds h JOIN hold_entries e ON e.hold_id = h.hold_id
    WHERE h.invocation_id = ANY (${ids}) AND e.${sql.raw(VOTES)} ORDER BY e.seq`.execute(db);
  const by_id = new Map(invocations.map((row) => [row.invocation_id, row]));
  const ends = new Map(results.map(({ of, log_seq, ...row }) => [of, { log_seq, row }]));
  const many = { attempts: grouped(attempts), holds: grouped(holds), hold_entries: grouped(entries) };
  return ids.flatMap((id): StoredRecord[] => {
    const invocation = by_id.get(id);
    if (!invocation) return [];
    const end = ends.get(id);
    const tables = {
      invocations: [invocation],
      results: end ? [end.row] : [],
      attempts: many.attempts.get(id) ?? [],
      holds: many.holds.get(id) ?? [],
      hold_entries: many.hold_entries.get(id) ?? [],
    };
    return [{ kind: 'invocation', id, tables, seq: end?.log_seq ?? null }];
  });
}

function grouped(rows: readonly Keyed<'of'>[]): Map<string, TextRow[]> {
  const groups = new Map<string, TextRow[]>();
  for (const { of, ...row } of rows) {
    const group = groups.get(of);
    if (group) group.push(row);
    else groups.set(of, [row]);
  }
  return groups;
}
