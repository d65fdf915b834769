import { warnAt } from './warn-at.js';

/**
 * Part of the settling statement. A hold becomes pending again, in its next round, if the worker found that the release was for
 * something else (another version of the tool, another policy), or if the tool asks a question. With a question, the approval is kept
 * for when it is answered. Ids are passed as an array, so that the plan looks up only these rows; usually there are none.
 */
export const RETURN_HOLDS = `returned AS (
      UPDATE holds h SET status = 'pending', round = h.round + 1, returned_because = m.error, question = m.question,
        answers = NULL, live = false,
        approved_before = CASE WHEN m.question IS NOT NULL AND h.status = 'released' AND h.question IS NULL
          THEN json_build_object('input_hash', h.approved_input_hash, 'descriptor_hash', h.approved_descriptor_hash,
            'policy_hash', h.approved_policy_hash)
          WHEN m.question IS NOT NULL THEN h.approved_before END,
        approved_input_hash = NULL,
        approved_descriptor_hash = NULL, approved_policy_hash = NULL, approval_expires_at = NULL, used_at = NULL,
        spent = false, decided_at = NULL, decided_by = NULL, expires_at = m.expires_at,
        warn_at = m.${warnAt('m.expires_at - now()')}
      FROM moved m
      WHERE m.status = 'held' AND h.invocation_id = ANY (ARRAY (SELECT invocation_id FROM moved WHERE status = 'held'))
        AND h.invocation_id = m.invocation_id
      RETURNING h.hold_id, h.round, h.returned_because
    ), asks AS (
      INSERT INTO holds (hold_id, invocation_id, tenant, actor, tool_id, question, expires_in_ms, expires_at)
      SELECT 'hld_' || substr(m.invocation_id, 5), m.invocation_id, m.tenant, m.actor, m.tool_id, m.question,
        m.expires_in_ms, m.expires_at
      FROM moved m WHERE m.status = 'held' AND m.question IS NOT NULL
        AND NOT EXISTS (SELECT FROM holds h WHERE h.invocation_id = m.invocation_id)
    ), told AS (
      INSERT INTO hold_entries (hold_id, actor, kind, round, comment)
      SELECT hold_id, 'system', 'return', round, returned_because FROM returned
    )`;
