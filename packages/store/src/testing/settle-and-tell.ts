import { type Settlement, settleInvocations } from '../invocation/settle-invocations.js';
import type { Store } from '../open-store.js';

/** Settles, and answers for each settlement whether it was taken. */
export async function settleAndTell(store: Store, settlements: Settlement[]): Promise<boolean[]> {
  return (await settleInvocations(store, settlements)).map((settled) => settled !== null);
}
