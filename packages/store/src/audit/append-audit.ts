import type { JsonObject } from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';

export type AuditEvent = { tenant: string; actor: string; event: string; subject: string; detail?: JsonObject };

/**
 * Called in the transaction of the change that it describes, so that one never exists without the other. All events are one
 * parameter: a statement takes at most 65,535, and an operator may cancel more calls than that at once.
 */
export async function appendAudit(db: Db, events: AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = JSON.stringify(
    events.map(({ detail = {}, ...event }) => ({ ...event, detail: JSON.stringify(detail) })),
  );
  await sql`
    INSERT INTO audit (tenant, actor, event, subject, detail)
    SELECT tenant, actor, event, subject, detail::json
    FROM json_to_recordset(${rows}::json) AS e (tenant text, actor text, event text, subject text, detail text)
  `.execute(db);
}
