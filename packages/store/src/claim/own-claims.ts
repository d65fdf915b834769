import type { Statement, Store } from '../open-store.js';
import { type Claimed, callsOn } from './claimed.js';

const OWNABLE = `EXISTS (SELECT FROM workers WHERE worker_id = $1 AND lease_until > now())
  AND (c.expires_at IS NULL OR c.expires_at > now())
  AND NOT EXISTS (SELECT FROM queues q WHERE q.runner = c.runner AND q.paused)`;

/** Skips receipts that another worker has, that were taken back, or that are owned already. */
const OWN: Statement = {
  name: 'own-claims',
  text: `
    WITH receipts AS (
      UPDATE claims c SET worker_id = $1, owned_at = now()
      WHERE c.claim_id = ANY ($2) AND c.owned_at IS NULL AND (c.worker_id IS NULL OR c.worker_id = $1) AND ${OWNABLE}
      RETURNING c.claim_id, c.ids, c.attempts, c.first_attempts
    ) ${callsOn('receipts')} ORDER BY c.place`,
};

/** Takes ownership of receipts and returns their calls. From now on, the calls count as started. */
export const ownClaims = (store: Store, worker_id: string, claim_ids: readonly string[]): Promise<Claimed[]> =>
  store.query<Claimed>(OWN, [worker_id, claim_ids]);

const READ: Statement = {
  name: 'read-claims',
  text: `
    WITH receipts AS (
      SELECT claim_id, ids, attempts, first_attempts FROM claims
      WHERE claim_id = ANY ($2) AND worker_id = $1 AND owned_at IS NOT NULL
    ) ${callsOn('receipts')} AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = i.invocation_id)
    ORDER BY c.place`,
};

/** The calls on receipts assigned to this worker whose message was lost, so they have not started. */
export const readClaims = (store: Store, worker_id: string, claim_ids: readonly string[]): Promise<Claimed[]> =>
  store.query<Claimed>(READ, [worker_id, claim_ids]);
