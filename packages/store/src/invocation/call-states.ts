import type { Json } from '@capstan/contracts';
import type { Db, Store } from '../open-store.js';

export type CallState = {
  state: Json;
  /** Going on from it has no second effect. */
  repeatable: boolean;
};

/** Keeps what the next attempt of a call can go on from, should this one end before the call does. */
export async function putCallState(
  store: Store,
  invocation_id: string,
  { state, repeatable }: CallState,
): Promise<void> {
  const row = { state: JSON.stringify(state), repeatable };
  await store.db
    .insertInto('checkpoints')
    .values({ invocation_id, ...row })
    .onConflict((conflict) => conflict.column('invocation_id').doUpdateSet(row))
    .execute();
}

export const readCallState = (db: Db, invocation_id: string): Promise<CallState | undefined> =>
  db
    .selectFrom('checkpoints')
    .select(['state', 'repeatable'])
    .where('invocation_id', '=', invocation_id)
    .executeTakeFirst();
