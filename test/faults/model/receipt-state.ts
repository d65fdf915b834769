import { type Database, IDLE, type Row, type Rows, type Session } from './read-committed.js';

/** `a` is idempotent; `b` is not. */
export const CALLS = ['a', 'b'] as const;
export const MAX_ATTEMPTS = 2;

export interface Receipt extends Row {
  readonly owner: string | null;
  readonly calls: readonly string[];
  readonly attempt: number;
}

export interface Worker {
  readonly at: 'idle' | 'taking' | 'owning' | 'running' | 'locking' | 'locked' | 'settling' | 'dead';
  readonly session: Session;
  readonly receipt: string;
  readonly to_run: readonly string[];
  readonly to_settle: readonly string[];
}

export interface Clerk {
  readonly at: 'idle' | 'first' | 'between' | 'second' | 'done';
  readonly session: Session;
  readonly receipt: string;
  readonly calls: Receipt | null;
}

export interface State {
  readonly database: Database;
  readonly workers: Readonly<Record<string, Worker>>;
  readonly rescuer: Clerk;
  readonly canceler: Clerk;
  /** Jobs in Redis, each the key of a receipt. */
  readonly jobs: readonly string[];
  readonly redelivered: boolean;
  readonly receipts_made: number;
  /** How often the tool of each call ran, as counted outside the system. */
  readonly effects: Readonly<Record<string, number>>;
}

export const FREE_WORKER: Worker = { at: 'idle', session: IDLE, receipt: '', to_run: [], to_settle: [] };
export const FREE_CLERK: Clerk = { at: 'idle', session: IDLE, receipt: '', calls: null };

export interface Variant {
  /** Where the calls are at first: waiting for a worker, or on a receipt that Redis delivers to a worker. */
  readonly begin: 'waiting' | 'delivered';
  readonly rescue: 'two statements' | 'one statement';
  readonly settle: 'locks the receipt' | 'reads the receipt';
  readonly own: 'if unowned' | 'always';
}

export const callOf = (key: string): string => key.slice(key.indexOf('/') + 1);

export const isReceipt = (row: Row | null | undefined): row is Receipt => Array.isArray(row?.calls);

export const receiptIn = (rows: Readonly<Record<string, Row | null>>, key: string): Receipt | null => {
  const row = rows[key];
  return isReceipt(row) ? row : null;
};

export const receiptsOf = (rows: Rows): [string, Receipt][] =>
  Object.entries(rows).flatMap(([key, row]): [string, Receipt][] => (isReceipt(row) ? [[key, row]] : []));
