import { matchesEvent } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import type { Store } from '../open-store.js';
import { isOf, type RetentionRule } from '../retention/retention-rule.js';

type NewDelivery = { delivery_id: string; tenant: string; event_id: string; webhook_id: string | null; target: string };

/** Creates a delivery of each new event for every endpoint that subscribes to it. */
export async function fanOutEvents(store: Store, limit: number): Promise<number> {
  return store.db.transaction().execute(async (db) => {
    const { rows: events } = await sql<{ event_id: string; tenant: string; type: string; url: string | null }>`
      WITH new AS (
        SELECT event_id FROM events WHERE NOT fanned_out ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      )
      UPDATE events e SET fanned_out = true FROM new WHERE e.event_id = new.event_id
      RETURNING e.event_id, e.tenant, e.type, e.url`.execute(db);
    if (events.length === 0) return 0;
    const tenants = [...new Set(events.map(({ tenant }) => tenant))];
    const endpoints = await db
      .selectFrom('webhooks')
      .select(['webhook_id', 'tenant', 'events'])
      .where('tenant', 'in', tenants)
      .where('enabled', '=', true)
      .execute();
    const deliveries = events.flatMap(({ event_id, tenant, type, url }): NewDelivery[] => [
      ...endpoints
        .filter((one) => one.tenant === tenant && one.events.some((filter) => matchesEvent(filter, type)))
        .map(({ webhook_id }) => ({ delivery_id: newId(), tenant, event_id, webhook_id, target: webhook_id })),
      ...(url === null ? [] : [{ delivery_id: newId(), tenant, event_id, webhook_id: null, target: url }]),
    ]);
    await sql`
      INSERT INTO webhook_deliveries (delivery_id, tenant, event_id, webhook_id, target)
      SELECT delivery_id, tenant, event_id, webhook_id, target
      FROM json_to_recordset(${JSON.stringify(deliveries)}::json)
        AS d (delivery_id text, tenant text, event_id text, webhook_id text, target text)
      ON CONFLICT (event_id, target) DO NOTHING`.execute(db);
    return events.length;
  });
}

const newId = () => `dlv_${nanoid()}`;

/** Deletes old events; events with open deliveries stay. */
export async function deleteOldEvents(
  store: Store,
  age_ms: number,
  tenants: RetentionRule['tenants'],
  limit: number,
): Promise<number> {
  const { rows } = await sql`
    WITH old AS (
      SELECT event_id FROM events e WHERE at < now() - ${age_ms} * interval '1 millisecond' AND fanned_out
        AND ${isOf(tenants, sql`tenant`)}
        AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = e.event_id AND d.state = 'pending')
      LIMIT ${limit}
    ), untold AS (
      DELETE FROM webhook_deliveries WHERE event_id = ANY (ARRAY (SELECT event_id FROM old))
    )
    DELETE FROM events WHERE event_id = ANY (ARRAY (SELECT event_id FROM old)) RETURNING event_id`.execute(store.db);
  return rows.length;
}
