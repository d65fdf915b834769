import type { EventType } from '@capstan/contracts';
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
};

/**
 * In the transaction of what it tells. Inputs stay out of it: what is sent away is that there is something to decide, and
 * who decides looks at it here.
 */
export const notifyHold = (
  db: Db,
  type: Extract<EventType, 'hold.created' | 'hold.decided' | 'hold.expiring'>,
  holds: HoldNews[],
): Promise<void> =>
  recordEvents(
    db,
    holds.map(
      ({ tenant, hold_id, invocation_id, tool_id, actor, status, expires_at, decided_by, returned_because }) => ({
        tenant,
        type,
        subject: hold_id,
        data: { hold_id, invocation_id, tool_id, actor, status, expires_at, decided_by, returned_because },
      }),
    ),
  );
