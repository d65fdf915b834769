import type { Db } from '../open-store.js';

/** What the log says of them. */
export const DISABLED = 'its endpoint was disabled';

/** What waits for an endpoint that was disabled is not sent; once it is enabled, it can be delivered again by hand. */
export const giveUpDeliveries = (db: Db, webhook_id: string) =>
  db
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', error: DISABLED })
    .where('target', '=', webhook_id)
    .where('state', '=', 'pending')
    .execute();
