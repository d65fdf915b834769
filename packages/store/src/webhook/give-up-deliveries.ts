import type { Db } from '../open-store.js';

/** The reason in the log of deliveries. */
export const DISABLED = 'its endpoint was disabled';

/** Deliveries that wait for a disabled endpoint are not sent. After it is enabled, they can be redelivered by hand. */
export const giveUpDeliveries = (db: Db, webhook_id: string) =>
  db
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', error: DISABLED })
    .where('target', '=', webhook_id)
    .where('state', '=', 'pending')
    .execute();
