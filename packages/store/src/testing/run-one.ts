import type { Claimed } from '../claim/claimed.js';
import { settleClaims } from '../claim/settle-claims.js';
import type { Settlement } from '../claim/settlement.js';
import { insertInvocations, type NewInvocation } from '../invocation/insert-invocations.js';
import type { Store } from '../open-store.js';
import { claimByIds } from './claim-by-ids.js';
import { liveWorker } from './live-worker.js';
import { newInvocation } from './new-invocation.js';
import { newSettlement } from './new-settlement.js';

/** Claims an invocation that is queued. */
export async function claimOne(store: Store, worker_id: string, invocation_id: string): Promise<Claimed> {
  const [claimed] = await claimByIds(store, worker_id, [invocation_id]);
  if (!claimed) throw new Error(`${invocation_id} could not be claimed`);
  return claimed;
}

/** Creates an invocation that runs at a separate worker. */
export async function startOne(store: Store, given: Partial<NewInvocation> = {}) {
  const row = newInvocation(given);
  await insertInvocations(store, [row]);
  const worker_id = await liveWorker(store);
  return { worker_id, claimed: await claimOne(store, worker_id, row.invocation_id) };
}

/** A new invocation whose first attempt ended so. */
export async function endOne(store: Store, status: Settlement['status'], given: Partial<NewInvocation> = {}) {
  const { claimed } = await startOne(store, given);
  await settleClaims(store, [newSettlement(claimed, { status })], () => true);
  return claimed;
}
