import type { Statement, Store } from '../open-store.js';

/** Work for which there is no signal. */
export type FoundWork = {
  /** Audit events that are not in the chain yet. */
  audit: boolean;
  /** Schedule runs that wait for the previous one to end. */
  fires: boolean;
  /** Events that have not been fanned out to endpoints yet. */
  events: boolean;
  /** Receipts of lost workers. */
  rescue: boolean;
  /** Time until the next lease ends, if its worker does not renew it. */
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

/** One statement for everything, because every coordinator asks every few seconds, even if nothing happens for days. */
export async function lookForWork(store: Pick<Store, 'query'>): Promise<FoundWork> {
  const [found] = await store.query<FoundWork>(LOOK, []);
  if (!found) throw new Error('look-for-work answered no row');
  return found;
}
