import { type InvocationStatus, isTerminal } from '@capstan/contracts';
import { endWaited, takeWaiting } from '../invocation/end-waiting.js';
import { insertInvocations, type NewInvocation, type NewRun } from '../invocation/insert-invocations.js';
import type { Store } from '../open-store.js';
import { claimByIds } from './claim-by-ids.js';
import { liveWorker } from './live-worker.js';

type InStatus = Omit<NewInvocation, 'status'> & { status: InvocationStatus };

/** Inserts invocations and moves each to its status: running at a separate worker, or ended without an attempt. */
export async function insertInStatus(
  store: Store,
  rows: readonly InStatus[],
  run: NewRun | null = null,
): Promise<void> {
  const admitted = rows.map((row): NewInvocation => ({ ...row, status: admittedAs(row.status) }));
  await insertInvocations(store, admitted, { run });
  const running = rows.filter(({ status }) => status === 'running').map(({ invocation_id }) => invocation_id);
  if (running.length > 0) await claimByIds(store, await liveWorker(store), running);
  for (const { invocation_id, status } of rows)
    if (isTerminal(status) && status !== 'denied')
      await store.db.transaction().execute(async (db) => endWaited(db, await takeWaiting(db, [invocation_id]), status));
}

const admittedAs = (status: InvocationStatus): NewInvocation['status'] =>
  status === 'denied' || status === 'held' || status === 'deferred' ? status : 'queued';
