import { nanoid } from 'nanoid';
import {
  type HandOver,
  type Inserted,
  insertInvocations,
  type NewInvocation,
} from '../invocation/insert-invocations.js';
import type { Store } from '../open-store.js';
import { newInvocation } from './new-invocation.js';

export type HandedOver = { receipt: HandOver; ids: string[]; inserted: Inserted };

/** Inserts calls together with one receipt for all of them: for a worker, or, without one, for the queue. */
export async function handOver(
  store: Store,
  given: Partial<Pick<HandOver, 'worker_id' | 'owned'>> = {},
  rows: NewInvocation[] = [newInvocation()],
): Promise<HandedOver> {
  const ids = rows.map(({ invocation_id }) => invocation_id);
  const runner = rows[0]?.runner ?? 'exec';
  const receipt = { claim_id: `clm_${nanoid()}`, runner, worker_id: null, owned: false, ids, ...given };
  return { receipt, ids, inserted: await insertInvocations(store, rows, { hand_over: [receipt] }) };
}
