import type { NewInvocation } from './insert-invocations.js';

/**
 * True if two calls differ at most in their id, inputs, idempotency key and span. False says nothing: objects are compared by
 * identity, which is enough because equal decisions of a tool are one object, and so are the roles of a principal.
 */
export const isAlike = (one: NewInvocation, other: NewInvocation): boolean =>
  one.decision === other.decision &&
  one.roles === other.roles &&
  (one.labels === other.labels || (isEmpty(one.labels) && isEmpty(other.labels))) &&
  one.quota_scopes === other.quota_scopes &&
  one.tenant === other.tenant &&
  one.actor === other.actor &&
  one.run_id === other.run_id &&
  one.tool_id === other.tool_id &&
  one.runner === other.runner &&
  one.descriptor_hash === other.descriptor_hash &&
  one.policy_hash === other.policy_hash &&
  one.mode === other.mode &&
  one.session_id === other.session_id &&
  one.idempotent === other.idempotent &&
  one.spec_frozen === other.spec_frozen &&
  one.spec_hash === other.spec_hash &&
  one.priority === other.priority &&
  one.timeout_ms === other.timeout_ms &&
  one.max_attempts === other.max_attempts &&
  one.webhook_url === other.webhook_url &&
  one.retry_backoff_ms === other.retry_backoff_ms &&
  one.watched === other.watched &&
  one.status === other.status &&
  one.run_at === other.run_at &&
  one.delay_ms === other.delay_ms &&
  one.expires_in_ms === other.expires_in_ms &&
  one.cost_units === other.cost_units;

function isEmpty(labels: Record<string, string>): boolean {
  for (const _ in labels) return false;
  return true;
}
