import { sqlShape } from './sql-shape.js';

/** Keywords of statements that read. Writes hidden in them (a function, EXPLAIN ANALYZE of a write) fail in the read-only transaction. */
const READS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'SHOW', 'EXPLAIN', 'PRAGMA']);
/** Keywords that reach beyond the database, or would end the surrounding transaction. */
const NEVER: ReadonlySet<string> = new Set([
  'ATTACH',
  'DETACH',
  'VACUUM',
  'COPY',
  'LOAD',
  'BEGIN',
  'START',
  'COMMIT',
  'END',
  'ROLLBACK',
  'ABORT',
  'SAVEPOINT',
  'RELEASE',
  'PREPARE',
  'SET',
  'RESET',
  'DISCARD',
  'LISTEN',
  'CALL',
  'DO',
]);

/** True if it may have changed something even though it changed no rows: a table, a view, an index. */
export const isMoreThanRead = (sql: string): boolean => !READS.has(sqlShape(sql).keyword);

/** The reason why a statement is refused, or null. */
export const refusalOf = (
  sql: string,
  write: boolean,
): { kind: 'INVALID_INPUTS' | 'WRITE_NOT_GRANTED'; why: string } | null => {
  const { keyword, several } = sqlShape(sql);
  if (keyword === '') return { kind: 'INVALID_INPUTS', why: 'sql is empty' };
  if (several) return { kind: 'INVALID_INPUTS', why: 'sql holds more than one statement; send one at a time' };
  if (NEVER.has(keyword)) return { kind: 'INVALID_INPUTS', why: `${keyword} is not for tools` };
  if (!write && !READS.has(keyword))
    return {
      kind: 'WRITE_NOT_GRANTED',
      why: `${keyword} may write, and this call may only read`,
    };
  return null;
};
