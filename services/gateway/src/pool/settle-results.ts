import { type AppResult, Failure, type PoolSettled } from '@capstan/contracts';
import type { Store } from '@capstan/store';
import { recallLateResults } from '@capstan/store/pool';
import type { Delivery } from './delivery.js';
import { nameOf } from './live-call.js';

/** Stores the results of a worker. Safe to repeat: a result that was stored before gets the same answer again. */
export async function settleResults(
  store: Store,
  worker_id: string,
  delivery: Delivery,
  results: readonly AppResult[],
): Promise<PoolSettled['outcomes']> {
  const statuses = new Map<string, string>();
  await Promise.all(
    results.map(async (result) => {
      const live = delivery.get(result);
      const status = live ? await delivery.settle(live, result) : null;
      if (status !== null) statuses.set(nameOf(result), status);
    }),
  );
  const isOpen = (result: AppResult) => !statuses.has(nameOf(result));
  for (const [name, status] of await recall(store, worker_id, results.filter(isOpen))) statuses.set(name, status);
  await requireNotOwned(delivery, results.filter(isOpen));
  return results.map((result) => {
    const { invocation_id, attempt } = result;
    const status = statuses.get(nameOf(result)) ?? null;
    return { invocation_id, attempt, outcome: status === null ? ('refused' as const) : ('taken' as const), status };
  });
}

/** The statuses of results that were stored before; the answer about them was lost on its way to the worker. */
async function recall(store: Store, worker_id: string, late: readonly AppResult[]): Promise<Map<string, string>> {
  if (late.length === 0) return new Map();
  const asked = late.map(({ invocation_id, attempt, status }) => ({ invocation_id, attempt, status }));
  const rows = await recallLateResults(store, worker_id, asked);
  const sent = new Map(late.map((result) => [nameOf(result), result.status]));
  return new Map(
    rows.flatMap(({ status, ...one }) => {
      // A repeated result has to agree with the stored one on whether the call succeeded.
      const agrees = status !== null && (sent.get(nameOf(one)) === 'succeeded') === (status === 'succeeded');
      return agrees ? [[nameOf(one), status] as const] : [];
    }),
  );
}

/** If the worker still owns a call, its result was not refused: this gateway failed to store it, and the worker has to try again. */
async function requireNotOwned(delivery: Delivery, refused: readonly AppResult[]): Promise<void> {
  if (refused.length === 0) return;
  const owned = new Set((await delivery.owned()).map(nameOf));
  if (refused.some((result) => owned.has(nameOf(result))))
    throw new Failure('STORAGE_UNAVAILABLE', {
      detail: 'Some results could not be stored; send all of them again.',
    });
}
