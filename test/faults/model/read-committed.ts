/** A row by its key (`work/a`). Rows are plain JSON. */
export type Row = Readonly<Record<string, unknown>>;
export type Rows = Readonly<Record<string, Row>>;

/** Committed rows, and who holds the lock of a row or of a key that is being inserted. */
export interface Database {
  readonly rows: Rows;
  readonly locks: Readonly<Record<string, string>>;
}

/** A connection: the uncommitted writes of its transaction, and the snapshot of its current statement. */
export interface Session {
  readonly writes: Readonly<Record<string, Row | null>>;
  readonly snapshot: Rows | null;
}

export const IDLE: Session = { writes: {}, snapshot: null };

export interface Statement {
  /** Rows to delete, update or lock, chosen by the statement's snapshot. */
  readonly locks: (snapshot: Rows) => readonly string[];
  /** FOR UPDATE SKIP LOCKED: rows that another transaction has locked are left out instead of waited for. */
  readonly skip_locked?: boolean;
  /**
   * `locked` are the newest versions of the rows chosen, without those that are gone; `snapshot` is everything else that the
   * statement reads. `insert` does nothing where the key is taken (ON CONFLICT DO NOTHING).
   */
  readonly effect: (locked: Rows, snapshot: Rows) => { update?: Rows; remove?: readonly string[]; insert?: Rows };
}

/**
 * READ COMMITTED as in Postgres. A statement sees what was committed when it began, and its own transaction. A row that it
 * locks is waited for and then read again in its newest version, while all other rows are still read from the snapshot. The beginning
 * of a statement and its execution are two steps, so that others may commit in between.
 */
export function beginStatement(database: Database, session: Session): Session {
  return { ...session, snapshot: withWrites(database.rows, session.writes) };
}

/** Null while a lock is held by another transaction. Locks are taken at once, which leaves deadlocks out of the model. */
export function runStatement(
  database: Database,
  session: Session,
  { name, statement }: { name: string; statement: Statement },
): { database: Database; session: Session; locked: Rows } | null {
  const snapshot = session.snapshot ?? {};
  const isFree = (key: string) => (database.locks[key] ?? name) === name;
  const newest = withWrites(database.rows, session.writes);
  const chosen = statement.locks(snapshot).filter((key) => !statement.skip_locked || isFree(key));
  if (!chosen.every(isFree)) return null;
  const locked = Object.fromEntries(chosen.flatMap((key) => (newest[key] === undefined ? [] : [[key, newest[key]]])));
  const { update = {}, remove = [], insert = {} } = statement.effect(locked, snapshot);
  if (!Object.keys(insert).every(isFree)) return null;
  const inserted = Object.entries(insert).filter(([key]) => newest[key] === undefined);
  const removed = remove.map((key): [string, null] => [key, null]);
  const keys = [...Object.keys(locked), ...inserted.map(([key]) => key)];
  return {
    database: { ...database, locks: { ...database.locks, ...Object.fromEntries(keys.map((key) => [key, name])) } },
    session: {
      writes: { ...session.writes, ...update, ...Object.fromEntries(removed), ...Object.fromEntries(inserted) },
      snapshot: null,
    },
    locked,
  };
}

export function commit(database: Database, session: Session, name: string): Database {
  return rollback({ ...database, rows: withWrites(database.rows, session.writes) }, name);
}

export function rollback(database: Database, name: string): Database {
  return { ...database, locks: Object.fromEntries(Object.entries(database.locks).filter(([, by]) => by !== name)) };
}

/** Sorted by key, so that equal states have equal JSON. */
function withWrites(rows: Rows, writes: Session['writes']): Rows {
  const merged: [string, Row][] = Object.entries({ ...rows, ...writes }).flatMap(([key, row]) =>
    row === null ? [] : [[key, row]],
  );
  return Object.fromEntries(merged.sort(([one], [other]) => (one < other ? -1 : 1)));
}
