/**
 * CTEs that take calls off receipts. `locked` selects the receipts (claim_id, worker_id, owned_at, ids, attempts,
 * first_attempts, canceled) and locks them; `wanted` is a condition on a receipt `l` and a call `u` (id, attempt) on it. `taken`
 * has one row for each wanted call. Ended calls are removed as well, and a receipt is deleted with its last call. FOR UPDATE
 * returns a receipt as of its lock, not as of the statement's snapshot: a transaction that waited for the lock sees what the
 * previous holder left.
 */
export const removeFromClaims = (locked: string, wanted: string): string => `
  locked AS MATERIALIZED (${locked}),
  calls AS MATERIALIZED (
    SELECT l.claim_id, l.worker_id, l.owned_at, u.id AS invocation_id, u.attempt, u.first_attempt,
      u.id = ANY (l.canceled) AS canceled, ${wanted} AS wanted
    FROM locked l, unnest(l.ids, l.attempts, l.first_attempts) AS u (id, attempt, first_attempt)
  ), left_over AS MATERIALIZED (
    SELECT claim_id, array_agg(invocation_id) AS ids, array_agg(attempt) AS attempts, array_agg(first_attempt) AS first_attempts
    FROM calls c WHERE NOT wanted AND NOT EXISTS (SELECT FROM results r WHERE r.invocation_id = c.invocation_id)
    GROUP BY claim_id
  ), emptied AS (
    DELETE FROM claims WHERE claim_id = ANY (ARRAY (
      SELECT claim_id FROM locked EXCEPT SELECT claim_id FROM left_over))
  ), shrunk AS (
    UPDATE claims c SET ids = o.ids, attempts = o.attempts, first_attempts = o.first_attempts
    FROM left_over o WHERE c.claim_id = o.claim_id AND cardinality(o.ids) < cardinality(c.ids)
  ), taken AS MATERIALIZED (
    SELECT * FROM calls WHERE wanted
  )`;
