import type { Json } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db, Store } from '../open-store.js';

export type CallState = {
  state: Json;
  /** Whether continuing from it repeats no effect. */
  repeatable: boolean;
};

/** `look_ms`: how often workers check on work that continues elsewhere while the call is held. */
export type NewCallState = CallState & { look_ms?: number | undefined };

/** Saves a checkpoint that the next attempt of the call can continue from, if this attempt does not end it. */
export async function putCallState(
  store: Store,
  invocation_id: string,
  { state, repeatable, look_ms }: NewCallState,
): Promise<void> {
  const row = {
    ...{ state: JSON.stringify(state), repeatable, look_ms: look_ms ?? null },
    look_at: sql<string | null>`now() + ${look_ms ?? null}::int * interval '1 millisecond'`,
  };
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
