import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Json } from '@capstan/contracts';
import type { RowLimits, Rows } from './rows.js';

export type SqliteRequest = RowLimits & { path: string; sql: string; params: Json[]; write: boolean };
export type SqliteAnswer = ({ kind: 'rows' } & Rows) | { kind: 'error'; message: string };

export type Sqlite = {
  query(request: SqliteRequest, options: { signal: AbortSignal; timeout_ms: number }): Promise<Rows>;
  close(): Promise<void>;
};

/** What the database itself said. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
}

const MAX_IDLE = 2;

/** Threads are kept for the next query; one that has to be stopped is ended. */
export const createSqlite = (): Sqlite => {
  const idle: Worker[] = [];
  const ask = (thread: Worker, request: SqliteRequest, signal: AbortSignal): Promise<SqliteAnswer> =>
    new Promise((resolve, reject) => {
      const settle = (how: () => void) => {
        thread.off('message', onMessage).off('error', onError).off('exit', onExit);
        signal.removeEventListener('abort', stop);
        how();
      };
      const onMessage = (answer: SqliteAnswer) => settle(() => resolve(answer));
      const onError = (error: Error) => settle(() => reject(error));
      const onExit = () => settle(() => reject(signal.aborted ? signal.reason : new Error('the SQLite thread ended')));
      // Ends it in the midst of whatever it computes.
      const stop = () => void thread.terminate();
      thread.on('message', onMessage).on('error', onError).on('exit', onExit);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
      thread.postMessage(request);
    });
  return {
    query: async (request, { signal, timeout_ms }) => {
      const thread = idle.pop() ?? startThread();
      thread.ref();
      const answer = await ask(thread, request, AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeout_ms))]));
      thread.unref();
      if (idle.length < MAX_IDLE) idle.push(thread);
      else await thread.terminate();
      if (answer.kind === 'error') throw new SqliteError(answer.message);
      const { kind: _, ...rows } = answer;
      return rows;
    },
    close: async () => {
      await Promise.all(idle.splice(0).map((thread) => thread.terminate()));
    },
  };
};

/** The built file, also when this one is run from source. */
const threadFile = (): string =>
  join(dirname(createRequire(import.meta.url).resolve('@capstan/runners')), 'db', 'sqlite-thread.js');

/** Without the environment, which holds secrets it does not need. */
const startThread = (): Worker => {
  const thread = new Worker(threadFile(), { env: {}, resourceLimits: { maxOldGenerationSizeMb: 512 } });
  thread.unref();
  return thread;
};
