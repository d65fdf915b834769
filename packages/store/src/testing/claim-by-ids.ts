import { nanoid } from 'nanoid';
import { type Claimed, callsOn } from '../claim/claimed.js';
import type { Statement, Store } from '../open-store.js';

const BY_IDS: Statement = {
  name: 'claim-by-ids',
  text: `
    WITH taken AS (
      DELETE FROM work WHERE invocation_id = ANY ($2) AND status = 'queued' AND (expires_at IS NULL OR expires_at > now())
        AND EXISTS (SELECT FROM workers WHERE worker_id = $1 AND lease_until > now())
      RETURNING invocation_id, runner, attempt + 1 AS attempt, first_attempt, quota_scopes
    ), receipts AS (
      INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts, under_quota)
      SELECT $3 || invocation_id, runner, $1, now(), ARRAY[invocation_id], ARRAY[attempt], ARRAY[first_attempt], quota_scopes IS NOT NULL
      FROM taken RETURNING claim_id, ids, attempts, first_attempts
    ) ${callsOn('receipts')}`,
};

/** Claims the given calls, whoever's turn it is, each on its own receipt. */
export const claimByIds = (store: Store, worker_id: string, ids: string[]): Promise<Claimed[]> =>
  store.query<Claimed>(BY_IDS, [worker_id, ids, `clm_${nanoid()}`]);
