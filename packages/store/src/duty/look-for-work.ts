import type { Statement, Store } from '../open-store.js';

/** What there is to do that no signal tells of. */
export type FoundWork = {
  /** Events of the audit that are not in its chain. */
  audit: boolean;
  /** Starts of schedules that wait for the one before. */
  fires: boolean;
  /** Events that nobody has been told of. */
  events: boolean;
  /** Receipts of workers that are gone. */
  rescue: boolean;
  /** Until the next lease ends, should its worker not renew it. */
  next_lost_in_ms: number | null;
};

const LOOK: Statement = {
  name: 'look-for-work',
  text: `
    SELECT coalesce((SELECT max(seq) FROM audit) > coalesce((SELECT max(seq) FROM audit_links), 0), false) AS audit,
      EXISTS (SELECT FROM schedule_fires WHERE outcome = 'queued') AS fires,
      EXISTS (SELECT FROM events WHERE NOT fanned_out) AS events,
      EXISTS (SELECT FROM claims c JOIN workers w ON w.worker_id = c.worker_id WHERE w.lease_until < now()) AS rescue,
      (SELECT extract(epoch FROM min(lease_until) - now())::float8 * 1000 FROM workers WHERE lease_until > now()) AS next_lost_in_ms`,
};

/** One statement for all of it: several coordinators look every few seconds, also while nothing happens for days. */
export async function lookForWork(store: Pick<Store, 'query'>): Promise<FoundWork> {
  const [found] = await store.query<FoundWork>(LOOK, []);
  if (!found) throw new Error('look-for-work answered no row');
  return found;
}
