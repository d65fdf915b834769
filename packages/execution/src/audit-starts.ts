import { groupCommit, type Store } from '@capstan/store';
import { type AuditEvent, appendAudit } from '@capstan/store/audit';
import type { WorkerContext } from './worker-context.js';

/** Calls that start together share one write. */
export function auditStarts(store: Store): WorkerContext['audit'] {
  const commit = groupCommit<AuditEvent, true>({
    write: async (events) => {
      await appendAudit(store.db, events);
      return events.map(() => true);
    },
    max_batch: 500,
    max_waiting: 10_000,
    isolate: () => false,
  });
  return async (event) => {
    await commit(event);
  };
}
