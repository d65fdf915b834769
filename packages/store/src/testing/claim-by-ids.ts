import { CLAIMABLE, type Claimed, takeOver } from '../invocation/claim-invocations.js';
import type { Statement, Store } from '../open-store.js';

const BY_IDS: Statement = {
  name: 'claim-by-ids',
  text: takeOver(`tenants AS (SELECT NULL::text AS tenant), picked AS (
    SELECT invocation_id FROM invocations WHERE invocation_id = ANY ($2) AND ${CLAIMABLE} FOR UPDATE
  )`),
};

/** Claims those that a test names, whoever's turn it is. */
export const claimByIds = (store: Store, worker_id: string, ids: string[]): Promise<Claimed[]> =>
  store.query<Claimed>(BY_IDS, [worker_id, ids]);
