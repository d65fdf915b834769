import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject, Limits } from '@capstan/contracts';
import sqlite from 'node-sqlite3-wasm';
import { afterAll } from 'vitest';
import type { Call, RunOutcome } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createDbRunner } from '../create-db-runner.js';
import { dbConnections } from '../db-connections.js';

type Options = Partial<Call> & {
  write?: boolean;
  max_output_bytes?: number;
  timeout_ms?: number;
  tool_id?: string;
};

/** Asks databases by these connections, until this test file has ended. */
export function useTestDb(env: Record<string, string>) {
  const runner = createDbRunner({ connections: dbConnections(env) });
  afterAll(() => runner.close?.());
  const ask = async (inputs: JsonObject, options: Options = {}): Promise<RunOutcome> => {
    const { write, max_output_bytes = 1_000_000, timeout_ms = 20_000, tool_id = 'db.query', ...call } = options;
    const limits: Limits = { timeout_ms, max_output_bytes, ...(write === undefined ? {} : { write }) };
    const descriptor = testDescriptor({ tool_id, runner: 'db' });
    return runner.run(testCall(descriptor, { tenant: 'default', inputs, limits, ...call }));
  };
  const askOne =
    (connection: string) =>
    (sql: string, params: Json[] = [], options?: Options) =>
      ask({ connection, sql, params }, options);
  return { ask, askOne };
}

/** A database in a file, with two rows in `t`. */
export function useSqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'db-runner-'));
  afterAll(() => rm(folder, { recursive: true }));
  const file = join(folder, 'shop.db');
  const db = new sqlite.Database(file);
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two')");
  db.close();
  return file;
}
