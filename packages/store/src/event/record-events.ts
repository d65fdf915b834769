import type { EventType, JsonObject } from '@capstan/contracts';
import { sql } from 'kysely';
import { nanoid } from 'nanoid';
import type { Db } from '../open-store.js';

export type NewEvent = {
  tenant: string;
  type: EventType;
  /** The id of what it is about. */
  subject: string;
  data: JsonObject;
  /** Where the same event may be recorded twice: the second time it is known already. */
  event_id?: string;
  /** Told here too, besides the endpoints of the tenant. */
  url?: string | null;
};

/**
 * Called inside the transaction of what it tells, so that neither is ever there without the other. A tenant that nobody
 * tells anything (no endpoint, no url) has no rows here. Publish 'due' ['events'] once it is committed, so that it is
 * told at once; the coordinator's sweep finds it otherwise.
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
