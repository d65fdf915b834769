import type { EventType } from '@capstan/contracts';
import { sql } from 'kysely';
import { recordEvents } from '../event/record-events.js';
import type { Db } from '../open-store.js';

export type HoldNews = {
  hold_id: string;
  invocation_id: string;
  tenant: string;
  tool_id: string;
  actor: string;
  status: string;
  expires_at: string;
  decided_by: string | null;
  returned_because: string | null;
  /** The comment of the person who decided it. */
  comment?: string | null;
};

type Asked = { invocation_id: string; reason: string | null; risk: string | null };

/**
 * Records an event for each hold, in the transaction of the change. Events leave the installation, so they contain no inputs: they
 * say that there is something to decide, and people look at the call here.
 */
export async function notifyHold(
  db: Db,
  type: Extract<EventType, 'hold.created' | 'hold.decided' | 'hold.expiring'>,
  holds: HoldNews[],
): Promise<void> {
  if (holds.length === 0) return;
  const asked = await askedOf(db, holds);
  await recordEvents(
    db,
    holds.map(({ tenant, hold_id, invocation_id, tool_id, actor, status, expires_at, ...decision }) => ({
      tenant,
      type,
      subject: hold_id,
      data: {
        ...{ hold_id, invocation_id, tool_id, actor, status, expires_at },
        decided_by: decision.decided_by,
        returned_because: decision.returned_because,
        ...(type === 'hold.decided' ? { comment: decision.comment ?? null } : {}),
        reason: asked.get(invocation_id)?.reason ?? null,
        risk: asked.get(invocation_id)?.risk ?? null,
        hold_path: `/v1/holds/${hold_id}`,
      },
    })),
  );
}

/**
 * Why each call is held, and the risk of its tool. The reason of a hold is text from the policy and quotes nothing of the call. The
 * reason of a denial may quote the inputs, so it is left out.
 */
async function askedOf(db: Db, holds: HoldNews[]): Promise<Map<string, Asked>> {
  const ids = holds.map(({ invocation_id }) => invocation_id);
  const { rows } = await sql<Asked>`
    SELECT i.invocation_id, d.descriptor ->> 'risk' AS risk,
      CASE WHEN i.decision ->> 'effect' <> 'deny' THEN i.decision ->> 'reason' END AS reason
    FROM invocations i LEFT JOIN descriptors d ON d.descriptor_hash = i.descriptor_hash
    WHERE i.invocation_id = ANY (${ids}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.invocation_id, row]));
}
