import { settleClaims } from '../claim/settle-claims.js';
import type { Settlement } from '../claim/settlement.js';
import type { Store } from '../open-store.js';

/** Settles calls that are alone on their receipts, and answers for each settlement whether it was taken. */
export async function settleAndTell(store: Store, settlements: Settlement[]): Promise<boolean[]> {
  return (await settleClaims(store, settlements, () => true)).map((settled) => settled !== null);
}
