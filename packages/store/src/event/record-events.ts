import type { EventType, JsonObject } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import type { Db } from '../open-store.js';

export type NewEvent = {
  tenant: string;
  type: EventType;
  /** The id of the object that the event is about. */
  subject: string;
  data: JsonObject;
  /** Set if the same event may be recorded twice; the second is ignored. */
  event_id?: string;
  /** Delivered to this URL too, in addition to the tenant's endpoints. */
  url?: string | null;
};

/**
 * Called in the transaction of the change that it reports, so that one never exists without the other. If nobody would receive the
 * event (no endpoint, no url), no row is written. Publish 'due' ['events'] after the commit, so that it is delivered at once;
 * otherwise the coordinator's sweep finds it.
 */
export async function recordEvents(db: Db, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = JSON.stringify(
    events.map(({ data, event_id = `evt_${nanoid()}`, ...event }) => ({
      ...event,
      event_id,
      data: JSON.stringify(data),
    })),
  );
  await sql`
    INSERT INTO events (event_id, tenant, type, subject, data, url)
    SELECT event_id, tenant, type, subject, data::json, url
    FROM json_to_recordset(${rows}::json) AS e (event_id text, tenant text, type text, subject text, data text, url text)
    WHERE url IS NOT NULL OR EXISTS (SELECT FROM webhooks w WHERE w.tenant = e.tenant AND w.enabled)
    ON CONFLICT (event_id) DO NOTHING`.execute(db);
}
