import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import type { Store } from '../open-store.js';
import { registerWorker } from '../worker/worker-lease.js';

/** The id of a registered worker whose lease outlives any test. */
export async function liveWorker(store: Store): Promise<string> {
  const worker_id = `wrk_${nanoid()}`;
  await registerWorker(store, { worker_id, runners: ['exec'], host: 'here', pid: 1, concurrency: 10 }, 600_000);
  return worker_id;
}

/** Expires the lease, as if the worker had been silent for too long. */
export async function endLease(store: Store, worker_id: string): Promise<void> {
  const ended = sql<string>`now() - interval '1 millisecond'`;
  await store.db.updateTable('workers').set({ lease_until: ended }).where('worker_id', '=', worker_id).execute();
}
