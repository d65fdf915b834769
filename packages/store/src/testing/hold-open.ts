import { sql } from 'kysely';
import { type Db, queryIn, type Store } from '../open-store.js';

export type HeldOpen<T> = { answer: T; commit(): Promise<void>; rollback(): Promise<void> };

/** Acts in a transaction on a separate connection, and keeps it open until told how to end. */
export async function holdOpen<T>(store: Store, act: (store: Store) => Promise<T>): Promise<HeldOpen<T>> {
  const open = await store.db.startTransaction().execute();
  try {
    const answer = await act(within(store, open));
    return { answer, commit: () => open.commit().execute(), rollback: () => open.rollback().execute() };
  } catch (error) {
    await open.rollback().execute();
    throw error;
  }
}

/** The store as an operation sees it that runs within this transaction. */
const within = (store: Store, db: Db): Store => ({
  ...store,
  db,
  query: queryIn(db),
  transact: (work) => work(queryIn(db)),
});

/** Returns once as many statements wait for a lock in this test's database. */
export async function untilBlocked(store: Store, count = 1): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ blocked: number }>`
      SELECT count(*)::int AS blocked FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(store.db);
    if ((rows[0]?.blocked ?? 0) >= count) return;
  }
}
