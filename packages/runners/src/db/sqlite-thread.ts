import { parentPort } from 'node:worker_threads';
import type { Json } from '@capstan/contracts';
import sqlite from 'node-sqlite3-wasm';
import { distinctNames, toJson } from './row-values.js';
import { createRowTaker, type Rows } from './rows.js';
import type { SqliteAnswer, SqliteRequest } from './sqlite-query.js';

/** Queries SQLite files on a separate thread. A query is synchronous, so terminating the thread is the only way to stop it. */
const answer = (request: SqliteRequest): SqliteAnswer => {
  try {
    return { kind: 'rows', ...query(request) };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? error.message : String(error) };
  }
};

const query = ({ path, sql, params, write, max_rows, max_bytes }: SqliteRequest): Rows => {
  const database = new sqlite.Database(path, { readOnly: !write, fileMustExist: true });
  try {
    if (!write) database.exec('PRAGMA query_only = ON');
    const statement = database.prepare(sql);
    try {
      const taker = createRowTaker({ max_rows, max_bytes });
      const before = changesOf(database);
      let names = nameColumns(statement);
      for (const row of statement.iterate(params.map(toBind))) {
        if (names.length === 0) names = Object.keys(row);
        const values = names.map((name) => toJson(row[name]));
        if (!taker.take(names, values)) break;
      }
      const changed = changesOf(database) - before;
      return {
        columns: names.map((name) => ({ name, type: typeIn(taker.rows, name) })),
        rows: taker.rows,
        row_count: names.length > 0 ? taker.rows.length : changed,
        truncated: taker.truncated,
        changed,
      };
    } finally {
      statement.finalize();
    }
  } finally {
    database.close();
  }
};

/**
 * The library returns rows as objects, so the first of two columns with the same name would be lost, and an empty result would have no columns. It
 * calls this method internally for the names; here it gets unique ones. No names if the method does not exist.
 */
const nameColumns = (statement: sqlite.Statement): string[] => {
  const own: unknown = Reflect.get(statement, '_getColumnNames');
  if (typeof own !== 'function') return [];
  const names: unknown = Reflect.apply(own, statement, []);
  if (!Array.isArray(names)) return [];
  const distinct = distinctNames(names.map(String));
  Reflect.set(statement, '_getColumnNames', () => distinct);
  return distinct;
};

const changesOf = (database: sqlite.Database): number => Number(database.get('SELECT total_changes() AS n')?.n ?? 0);

const toBind = (value: Json): sqlite.JSValue =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : value;

/** SQLite has types of values, not of columns, so the first value that is not null decides. */
const typeIn = (rows: readonly Record<string, Json>[], name: string): string => {
  const value = rows.map((row) => row[name]).find((one) => one !== null && one !== undefined);
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'real';
  return value === undefined ? 'null' : 'text';
};

parentPort?.on('message', (request: SqliteRequest) => parentPort?.postMessage(answer(request)));
