import type { Principal, QueueName } from '@capstan/contracts';
import { appendAudit } from '../audit/append-audit.js';
import type { Store } from '../open-store.js';

/** Kept in Postgres, not in Redis: a pause must survive the loss of the queue. */
export async function setPaused(store: Store, principal: Principal, runner: QueueName, paused: boolean): Promise<void> {
  await store.db.transaction().execute(async (db) => {
    await db
      .insertInto('queues')
      .values({ runner, paused })
      .onConflict((conflict) => conflict.column('runner').doUpdateSet({ paused }))
      .execute();
    await appendAudit(db, [
      {
        tenant: principal.tenant,
        actor: principal.actor,
        event: paused ? 'queue.pause' : 'queue.resume',
        subject: runner,
      },
    ]);
  });
}

export async function pausedRunners(store: Store): Promise<QueueName[]> {
  const rows = await store.db.selectFrom('queues').select('runner').where('paused', '=', true).execute();
  return rows.map((row) => row.runner);
}
