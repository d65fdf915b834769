import type { Delivery } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import type { Db } from '../open-store.js';

export type BoxedDeliveries = { outbox_id: string; deliveries: Delivery[] };

/** In the transaction that made the invocations ready: whoever dies next, they will be delivered. */
export async function boxDeliveries(db: Db, deliveries: Delivery[]): Promise<BoxedDeliveries> {
  const outbox_id = nanoid();
  await db
    .insertInto('outbox')
    .values({ outbox_id, deliveries: JSON.stringify(deliveries) })
    .execute();
  return { outbox_id, deliveries };
}

export async function unboxDeliveries(db: Db, outbox_ids: string[]): Promise<void> {
  if (outbox_ids.length > 0) await db.deleteFrom('outbox').where('outbox_id', 'in', outbox_ids).execute();
}

/** Boxes older than `age_ms`: their process is gone or cannot reach the queue. */
export async function staleBoxes(db: Db, age_ms: number, limit: number): Promise<BoxedDeliveries[]> {
  return db
    .selectFrom('outbox')
    .select(['outbox_id', 'deliveries'])
    .where('created_at', '<', sql<string>`now() - ${age_ms} * interval '1 millisecond'`)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}
