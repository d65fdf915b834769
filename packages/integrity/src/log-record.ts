import { LOG_COLUMNS, LOG_KINDS, type LogKind, type LogTable, type TextRow } from './log-columns.js';
import { sha256 } from './merkle-tree.js';
import { postgresHash } from './postgres-hash.js';

/** The rows that one log entry covers: those of an ended invocation, or of a run. */
export type LogRecord = {
  kind: LogKind;
  id: string;
  tables: Readonly<Partial<Record<LogTable, readonly TextRow[]>>>;
};

/**
 * The SHA-256 of a record's fields, each prefixed with its length. This is the log entry. Postgres computes the same with
 * `sha256(record_send(ROW(…)))`, for a batch in one pass.
 */
export function recordHash({ kind, tables }: LogRecord): Buffer {
  const { version, one, many } = LOG_KINDS[kind];
  return sha256(
    encodeFields([
      version,
      ...one.flatMap((table) => valuesOf(table, tables[table]?.[0] ?? {})),
      ...many.map((table) => rowsHash(table, tables[table] ?? [])),
    ]),
  );
}

/** The hash of any number of rows; null for none. */
const rowsHash = (table: LogTable, rows: readonly TextRow[]): string | null =>
  rows.length === 0
    ? null
    : sha256(Buffer.concat(rows.map((row) => encodeFields(valuesOf(table, row))))).toString('hex');

const valuesOf = (table: LogTable, row: TextRow): (string | null)[] =>
  LOG_COLUMNS[table].map((column) => row[column] ?? null);

/** Postgres' OID of the type `text`. */
const TEXT = 25;
const NULL = -1;

/** Encodes a row as Postgres sends it: the number of fields, then the type, length in bytes and text of each. All big-endian. */
export function encodeFields(fields: readonly (string | null)[]): Buffer {
  const parts: Buffer[] = [int32(fields.length)];
  for (const field of fields) {
    const bytes = field === null ? null : Buffer.from(field);
    parts.push(int32(TEXT), int32(bytes?.length ?? NULL));
    if (bytes) parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(value);
  return bytes;
}

const DIGEST_BYTES = 2;

/**
 * Two bytes for each field, in column order. Tables with any number of rows are preceded by the row count. Digests only locate a
 * changed field; the hash of the record proves that something changed.
 */
export function fieldDigests({ kind, tables }: LogRecord): Buffer {
  const { one, many } = LOG_KINDS[kind];
  return Buffer.concat([
    ...one.map((table) => rowDigest(table, tables[table]?.[0] ?? {})),
    ...many.flatMap((table) => {
      const rows = tables[table] ?? [];
      return [int32(rows.length), ...rows.map((row) => rowDigest(table, row))];
    }),
  ]);
}

function rowDigest(table: LogTable, row: TextRow): Buffer {
  const values = valuesOf(table, row);
  const bytes = Buffer.alloc(values.length * DIGEST_BYTES);
  values.forEach((value, at) => {
    if (value !== null) bytes.writeUInt16BE(postgresHash(value) & 0xffff, at * DIGEST_BYTES);
  });
  return bytes;
}

export type LogChange = { table: LogTable; row: number; field: string };

/** Returns the fields that differ from the logged ones. An added or missing row is reported as the field `row`. */
export function changedLogFields(record: LogRecord, logged: Buffer): LogChange[] {
  const [now, then] = [splitDigests(record.kind, fieldDigests(record)), splitDigests(record.kind, logged)];
  const { one, many } = LOG_KINDS[record.kind];
  return [...one, ...many].flatMap((table) => changesOf(table, now.get(table) ?? [], then.get(table) ?? []));
}

function changesOf(table: LogTable, now: readonly Buffer[], then: readonly Buffer[]): LogChange[] {
  const changes: LogChange[] = [];
  for (let row = 0; row < Math.max(now.length, then.length); row++) {
    const [is, was] = [now[row], then[row]];
    if (is === undefined || was === undefined) changes.push({ table, row, field: 'row' });
    else
      LOG_COLUMNS[table].forEach((field, at) => {
        const place = at * DIGEST_BYTES;
        if (!is.subarray(place, place + DIGEST_BYTES).equals(was.subarray(place, place + DIGEST_BYTES)))
          changes.push({ table, row, field });
      });
  }
  return changes;
}

/** Splits digests by table and row. Truncated or altered digests give fewer rows, which are then reported as changed. */
function splitDigests(kind: LogKind, digests: Buffer): Map<LogTable, Buffer[]> {
  const rows = new Map<LogTable, Buffer[]>();
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return digests.subarray(at - length, at);
  };
  const { one, many } = LOG_KINDS[kind];
  const widthOf = (table: LogTable): number => LOG_COLUMNS[table].length * DIGEST_BYTES;
  for (const table of one) rows.set(table, [take(widthOf(table))]);
  for (const table of many) {
    const counted = take(4);
    const count = counted.length === 4 ? counted.readInt32BE() : 0;
    const found: Buffer[] = [];
    for (let row = 0; row < count && at < digests.length; row++) found.push(take(widthOf(table)));
    rows.set(table, found);
  }
  return rows;
}
