import type { LogTable, TextRow } from './log-columns.js';
import { changedLogFields, type LogRecord, recordHash } from './log-record.js';
import { hashOf, type Mismatch, type Removal, shown, type UsedDocuments } from './mismatch.js';

/** The log entry of a record: its index, its hash, and the digests that locate a changed field. */
export type LogEntry = { index: number; record_hash: Buffer; digests: Buffer };

/** Checks records against their log entries one at a time, a run before its calls. Memory use does not grow with the records. */
export function createLogVerifier() {
  const used: UsedDocuments = { policies: new Set(), descriptors: new Set() };
  const named: string[] = [];
  const seen: string[] = [];
  let run_id: string | null = null;

  const check = function* (record: LogRecord, entry: LogEntry | undefined): Generator<Mismatch> {
    noteUsed(used, record);
    if (record.kind === 'run') {
      run_id = record.id;
      for (const { invocation_id } of record.tables.calls ?? []) named.push(String(invocation_id));
    } else seen.push(record.id);
    if (record.kind === 'invocation' && (record.tables.results ?? []).length === 0) yield noEnd(record);
    else if (!entry) yield notLogged(record);
    else if (!recordHash(record).equals(entry.record_hash)) yield* changesOf(record, entry);
    yield* checkHashes(record);
  };

  /** Checks that the calls are those that the run's own record lists. */
  const checkCalls = function* (): Generator<Mismatch> {
    if (run_id === null) return;
    const [is, was] = [new Set(seen), new Set(named)];
    for (const id of was) if (!is.has(id)) yield missing(id, 'the run lists this call, but it is missing');
    for (const id of is) if (!was.has(id)) yield { ...missing(id, 'the run does not list this call'), stored: 'a row' };
  };

  return { check, checkCalls, used };
}

const missing = (row: string, why: string): Mismatch => ({
  ...{ table: 'invocations', row, field: 'row', stored: null, computed: null, why },
});

const noEnd = ({ id }: LogRecord): Mismatch => ({
  ...{
    table: 'results',
    row: id,
    field: 'row',
    stored: null,
    computed: null,
    why: 'the run has ended, but the result is missing',
  },
});

const notLogged = ({ id }: LogRecord): Mismatch => ({
  ...{
    table: 'log_batches',
    row: id,
    field: 'row',
    stored: null,
    computed: null,
    why: 'the log has no entry for this record',
  },
});

function* changesOf(record: LogRecord, { record_hash, digests }: LogEntry): Generator<Mismatch> {
  const logged = `sha256:${record_hash.toString('hex')}`;
  const changes = changedLogFields(record, digests);
  const calls = changes.filter(({ table }) => table === 'calls');
  for (const { table, row, field } of changes) {
    if (table === 'calls') continue;
    const found = record.tables[table]?.[row];
    const stored = field === 'row' ? (found ? 'a row' : null) : found?.[field];
    yield {
      table,
      row: record.id,
      field,
      stored: shown(stored),
      computed: logged,
      why: 'it differs from what was logged',
    };
  }
  if (calls.length > 0)
    yield {
      ...{ table: 'runs', row: record.id, field: 'calls', stored: record.tables.calls?.length ?? 0, computed: logged },
      why: `its calls differ from those that were logged, starting with call ${Math.min(...calls.map(({ row }) => row)) + 1}`,
    };
  if (changes.length === 0)
    yield {
      ...{ table: 'log_batches', row: record.id, field: 'record_hash', stored: logged },
      ...{ computed: `sha256:${recordHash(record).toString('hex')}`, why: 'the record differs from what was logged' },
    };
}

function noteUsed({ policies, descriptors }: UsedDocuments, { tables }: LogRecord): void {
  for (const { policy_hash } of [...(tables.invocations ?? []), ...(tables.plan_runs ?? [])])
    policies.add(String(policy_hash));
  for (const { descriptor_hash } of tables.invocations ?? []) descriptors.add(String(descriptor_hash));
}

/** Checks the hashes within the record against the values they cover. */
function* checkHashes({ id, tables }: LogRecord): Generator<Mismatch> {
  const same = function* (table: LogTable, field: string, row: TextRow, computed: unknown): Generator<Mismatch> {
    if (row[field] !== computed)
      yield { table, row: id, field, stored: shown(row[field]), computed, why: 'the hash does not match the value' };
  };
  const [run] = tables.runs ?? [];
  for (const row of tables.plan_runs ?? []) {
    yield* same('plan_runs', 'plan_hash', row, hashOfText(row.plan));
    if (run) yield* same('runs', 'plan_hash', run, row.plan_hash);
  }
  const [invocation] = tables.invocations ?? [];
  if (!invocation) return;
  yield* same('invocations', 'input_hash', invocation, hashOfText(invocation.inputs));
  yield* same('invocations', 'policy_hash', invocation, policyOf(invocation.decision));
  for (const row of tables.results ?? []) {
    if (row.output_hash === null || row.output_hash === undefined) continue;
    if (!isRemoved(row) && row.output_hash !== hashOfText(row.payload))
      yield {
        ...{ table: 'results', row: id, field: 'payload', stored: shown(row.payload), computed: row.output_hash },
        why: 'it does not match the recorded hash',
      };
    yield* same('results', 'input_hash', row, invocation.input_hash);
  }
}

const isRemoved = ({ payload, removed_at }: TextRow): boolean =>
  typeof removed_at === 'string' && (payload ?? null) === null;

export const logRemovalsOf = ({ id, tables }: LogRecord): Removal[] =>
  (tables.results ?? []).flatMap((row) =>
    isRemoved(row) ? [{ table: 'results', row: id, field: 'payload', removed_at: utc(String(row.removed_at)) }] : [],
  );

/** `2026-01-02 03:04:05.678+00` → `2026-01-02T03:04:05.678Z` */
export const utc = (text: string): string => `${text.slice(0, 10)}T${text.slice(11).replace(/\+00$/, 'Z')}`;

const hashOfText = (json: string | null | undefined): string => {
  const value = parsed(json);
  return value === undefined ? 'none: it is not JSON' : hashOf(value);
};

function parsed(json: string | null | undefined): unknown {
  try {
    return JSON.parse(json ?? 'null');
  } catch {
    return undefined;
  }
}

function policyOf(decision: string | null | undefined): unknown {
  const value = parsed(decision);
  return typeof value === 'object' && value !== null && 'policy_hash' in value ? value.policy_hash : undefined;
}
