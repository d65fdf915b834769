import { type Entry, type Row, readColumnsOf } from '@capstan/integrity';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../open-store.js';

/** An entry of a run's record. For an invocation, also the values that determine its order, and the link that its result names. */
export type ReadEntry = Entry & { seq: string | null; chain_hash: string | null };
export type EntryKey = Pick<Entry, 'kind' | 'id'>;

const columns = (table: string): RawBuilder<unknown> => sql.join(readColumnsOf(table).map((column) => sql.ref(column)));

/** The entry of a run that has a row. */
async function readRunEntry(db: Db, run_id: string): Promise<ReadEntry | undefined> {
  const { rows: runs } = await sql<Row>`SELECT ${columns('runs')} FROM runs WHERE run_id = ${run_id}`.execute(db);
  if (runs.length === 0) return undefined;
  const { rows: plan_runs } = await sql<Row>`
    SELECT ${columns('plan_runs')} FROM plan_runs WHERE run_id = ${run_id}`.execute(db);
  return { kind: 'run', id: run_id, tables: { runs, plan_runs }, seq: null, chain_hash: null };
}

const stepId = ({ step, element }: Row): string => `${step}.${element}`;
const toStepEntry = (row: Row): ReadEntry => ({
  kind: 'step',
  id: stepId(row),
  tables: { steps: [row] },
  seq: null,
  chain_hash: null,
});

export async function readStepEntries(
  db: Db,
  run_id: string,
  after: string | null,
  limit: number,
): Promise<ReadEntry[]> {
  const [step, element] = (after ?? '-1.-1').split('.', 2).map(Number);
  const { rows } = await sql<Row>`
    SELECT ${columns('steps')} FROM steps
    WHERE run_id = ${run_id} AND (step, element) > (${step}::int, ${element}::int) ORDER BY step, element LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(toStepEntry);
}

async function readStepsById(db: Db, run_id: string, ids: readonly string[]): Promise<ReadEntry[]> {
  // Other ids were tampered with and name no step.
  const places = ids.filter((id) => /^\d{1,9}\.-?\d{1,9}$/.test(id)).map((id) => id.split('.', 2).map(Number));
  const { rows } = await sql<Row>`
    SELECT ${columns('steps')} FROM steps WHERE run_id = ${run_id} AND (step, element) IN (
      SELECT * FROM unnest(${places.map(([step]) => step)}::int[], ${places.map(([, element]) => element)}::int[]))`.execute(
    db,
  );
  return rows.map(toStepEntry);
}

/** The ids of a run's invocations in the order of submission. */
export async function nextInvocations(db: Db, run_id: string, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ invocation_id: string }>`
    SELECT invocation_id FROM invocations WHERE run_id = ${run_id} AND seq > ${after} ORDER BY seq LIMIT ${limit}`.execute(
    db,
  );
  return rows.map(({ invocation_id }) => invocation_id);
}

/** In the order of the ids, without deleted ones. Rows include the columns that determine their order, which no hash covers. */
export async function readInvocationEntries(db: Db, ids: readonly string[]): Promise<ReadEntry[]> {
  if (ids.length === 0) return [];
  const { rows: invocations } = await sql<Row & { seq: string; invocation_id: string }>`
    SELECT ${columns('invocations')}, seq FROM invocation_states WHERE invocation_id = ANY (${ids})`.execute(db);
  const of = async (table: string, order: RawBuilder<unknown>, more = sql``, only = sql``) => {
    const { rows } = await sql<Row>`
      SELECT ${columns(table)} ${more} FROM ${sql.table(table)} WHERE invocation_id = ANY (${ids}) ${only} ORDER BY ${order}`.execute(
      db,
    );
    return groupBy(rows, 'invocation_id');
  };
  const attempts = await of('attempts', sql`attempt`);
  const results = await of('results', sql`invocation_id`, sql`, chain_hash`, sql`AND success IS NOT NULL`);
  const holds = await of('holds', sql`invocation_id`);
  const entries = await readHoldEntries(db, [...holds.values()].flat());
  const byId = new Map(invocations.map((row) => [row.invocation_id, row]));
  return ids.flatMap((id): ReadEntry[] => {
    const invocation = byId.get(id);
    if (!invocation) return [];
    const of_result = results.get(id) ?? [];
    const [hold] = holds.get(id) ?? [];
    const tables = {
      invocations: [invocation],
      attempts: (attempts.get(id) ?? []).map(settledAttempt),
      results: of_result,
      ...(hold ? { holds: [hold], hold_entries: entries.get(String(hold.hold_id)) ?? [] } : {}),
    };
    const chain_hash = of_result[0]?.chain_hash;
    return [
      {
        kind: 'invocation',
        id,
        tables,
        seq: invocation.seq,
        chain_hash: typeof chain_hash === 'string' ? chain_hash : null,
      },
    ];
  });
}

/** Comments are left out, because they can be added at any time. */
async function readHoldEntries(db: Db, holds: readonly Row[]): Promise<Map<string, Row[]>> {
  if (holds.length === 0) return new Map();
  const { rows } = await sql<Row>`
    SELECT ${columns('hold_entries')} FROM hold_entries
    WHERE hold_id = ANY (${holds.map((row) => row.hold_id)}) AND kind <> 'comment' ORDER BY hold_id, seq`.execute(db);
  return groupBy(rows, 'hold_id');
}

/** A worker that was declared lost may report late. The report marks the attempt, but is not part of the record. */
const settledAttempt = (row: Row): Row =>
  row.outcome === 'lost' || row.outcome === 'refused' ? { ...row, outcome: 'lost', ended_at: null, error: null } : row;

/** The entries for a page of links, in their order; undefined if an entry no longer exists. */
export async function readEntries(
  db: Db,
  run_id: string,
  keys: readonly EntryKey[],
): Promise<(ReadEntry | undefined)[]> {
  const ids = (kind: Entry['kind']) => keys.filter((key) => key.kind === kind).map(({ id }) => id);
  const found = new Map<string, ReadEntry>();
  const keep = (entry: ReadEntry | undefined) => entry && found.set(`${entry.kind} ${entry.id}`, entry);
  if (ids('run').includes(run_id)) keep(await readRunEntry(db, run_id));
  if (ids('step').length > 0) for (const entry of await readStepsById(db, run_id, ids('step'))) keep(entry);
  for (const entry of await readInvocationEntries(db, ids('invocation'))) keep(entry);
  return keys.map(({ kind, id }) => found.get(`${kind} ${id}`));
}

function groupBy(rows: readonly Row[], column: string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = String(row[column]);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
