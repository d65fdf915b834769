import type { Json } from '@capstan/contracts';
import { createThreads } from '../threads.js';
import type { RowLimits, Rows } from './rows.js';

export type SqliteRequest = RowLimits & { path: string; sql: string; params: Json[]; write: boolean };
export type SqliteAnswer = ({ kind: 'rows' } & Rows) | { kind: 'error'; message: string };

export type Sqlite = {
  query(request: SqliteRequest, options: { signal: AbortSignal; timeout_ms: number }): Promise<Rows>;
  close(): Promise<void>;
};

/** An error of the database itself. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
}

/** The built file, even if this one runs from source. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/db/sqlite-thread.js' : './sqlite-thread.js',
  import.meta.url,
);

export const createSqlite = (): Sqlite => {
  const threads = createThreads<SqliteRequest, SqliteAnswer>({ file: () => THREAD, heap_mb: 512 });
  return {
    query: async (request, options) => {
      const answer = await threads.ask(request, options);
      if (answer.kind === 'error') throw new SqliteError(answer.message);
      const { kind: _, ...rows } = answer;
      return rows;
    },
    close: () => threads.close(),
  };
};
