import { BUILTIN_TOOLS, createCatalog } from '@capstan/catalog';
import { createRedactor } from '@capstan/redact';
import { pino } from 'pino';
import type { WorkerContext } from '../worker-context.js';

const notExpected = () => Promise.reject(new Error('not expected in this test'));

/** A worker with the built-in tools and without a backend. */
export const newWorkerContext = (given: Partial<WorkerContext> = {}): WorkerContext => ({
  catalog: createCatalog(BUILTIN_TOOLS),
  rules: { approvedSpecs: () => [], refresh: () => Promise.resolve() },
  runners: new Map(),
  policies: { cached: () => undefined, load: notExpected, refresh: notExpected, close: () => {} },
  redactor: createRedactor({ values: [] }),
  running: new Map(),
  metrics: { ended: () => {}, retried: () => {}, waited: () => {} },
  mayBegin: () => true,
  holdsLease: () => true,
  approval: notExpected,
  audit: () => Promise.resolve(),
  settle: () => {},
  logs: { write: () => {}, goOnAfter: () => {}, written: () => null },
  keep: notExpected,
  secret: notExpected,
  session: () => null,
  questions: { checkpoint: async () => {}, resumed: async () => null, ask: async () => null },
  log: pino({ level: 'silent' }),
  ...given,
});
