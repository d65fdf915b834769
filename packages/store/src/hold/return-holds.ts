import { warnAt } from './warn-at.js';

/**
 * Part of the statement that settles: what its worker found released for something else (another version of the tool, another
 * policy) is pending again, in its next round. The ids go in as an array, so that the plan looks up these rows and no others;
 * most of the time there are none.
 */
export const RETURN_HOLDS = `returned AS (
      UPDATE holds h SET status = 'pending', round = h.round + 1, returned_because = m.error, approved_input_hash = NULL,
        approved_descriptor_hash = NULL, approved_policy_hash = NULL, approval_expires_at = NULL, used_at = NULL,
        spent = false, decided_at = NULL, decided_by = NULL, expires_at = m.expires_at,
        warn_at = m.${warnAt('m.expires_at - now()')}
      FROM moved m
      WHERE m.status = 'held' AND h.invocation_id = ANY (ARRAY (SELECT invocation_id FROM moved WHERE status = 'held'))
        AND h.invocation_id = m.invocation_id
      RETURNING h.hold_id, h.round, h.returned_because
    ), told AS (
      INSERT INTO hold_entries (hold_id, actor, kind, round, comment)
      SELECT hold_id, 'system', 'return', round, returned_because FROM returned
    )`;
