/**
 * When a call could first be run: neither delayed nor held any more. `i` is its row in `invocations`. The end of a deferral by a quota is
 * not on record, so that is not left out.
 */
export const READY_AT = `greatest(i.created_at, i.run_at, CASE WHEN i.admitted = 'held' THEN (
  SELECT h.decided_at FROM holds h WHERE h.invocation_id = i.invocation_id) END)`;
