import { sqlShape } from './sql-shape.js';

/** What only reads. Whatever these words hide (a function, EXPLAIN ANALYZE of a write) meets a read-only transaction. */
const READS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE', 'SHOW', 'EXPLAIN', 'PRAGMA']);
/** What reaches beyond the database, or would end the transaction that contains it. */
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

/** Whether it may have changed something although it changed no row: a table, a view, an index. */
export const isMoreThanRead = (sql: string): boolean => !READS.has(sqlShape(sql).keyword);

/** Why this statement is refused, or null. */
export const refusalOf = (
  sql: string,
  write: boolean,
): { kind: 'INVALID_INPUTS' | 'POLICY_DENIED'; why: string } | null => {
  const { keyword, several } = sqlShape(sql);
  if (keyword === '') return { kind: 'INVALID_INPUTS', why: 'sql is empty' };
  if (several) return { kind: 'INVALID_INPUTS', why: 'sql holds more than one statement; send one at a time' };
  if (NEVER.has(keyword)) return { kind: 'INVALID_INPUTS', why: `${keyword} is not for tools` };
  if (!write && !READS.has(keyword))
    return {
      kind: 'POLICY_DENIED',
      why: `${keyword} may write, and this call may only read; a policy grants it with limits: [{match, write: true}]`,
    };
  return null;
};
