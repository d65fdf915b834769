import type { JsonObject, QueueName, Role } from '@capstan/contracts';
import { READY_AT } from '../invocation/ready-at.js';

/** Everything a worker needs to run a call. `attempt` is the fencing token of this claim. */
export type Claimed = {
  claim_id: string;
  invocation_id: string;
  attempt: number;
  first_attempt: number;
  tenant: string;
  actor: string;
  roles: Role[];
  run_id: string | null;
  tool_id: string;
  runner: QueueName;
  inputs: JsonObject;
  input_hash: string;
  descriptor_hash: string;
  policy_hash: string;
  mode: 'execution' | 'planning';
  labels: Record<string, string>;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  session_id: string | null;
  idempotent: boolean;
  priority: number;
  timeout_ms: number;
  max_attempts: number;
  /** If set, any failure is retried; this is the first backoff. */
  retry_backoff_ms?: number | null;
  /** Whether its end is reported to a webhook. */
  watched: boolean;
  /** Whether its end concerns the coordinator: a quota, or a webhook. */
  followed: boolean;
  /** The span that submitted it; absent if tracing is off. */
  traceparent?: string | null | undefined;
  /** How long it could have been run before its first attempt; absent if it was handed over when it was submitted. */
  waited_s?: number | null;
};

/**
 * The calls on receipts (`receipts`: claim_id, ids, attempts, first_attempts), as their worker needs them. Ids are also passed as
 * an array: with the join alone, a plan made on small tables would read all of a large one. `c.place` is the place on the receipt.
 */
export const callsOn = (receipts: string): string => `
  SELECT c.claim_id, i.invocation_id, c.attempt, c.first_attempt, i.tenant, i.actor, i.roles, i.run_id, i.tool_id, i.runner,
    i.inputs, i.input_hash, i.descriptor_hash, i.policy_hash, i.mode, i.labels, i.spec_frozen, i.spec_hash, i.session_id,
    i.idempotent, i.priority, i.timeout_ms, i.max_attempts, i.retry_backoff_ms, i.watched IS NOT NULL AS watched,
    i.quota_scopes IS NOT NULL OR i.watched IS NOT NULL AS followed, i.traceparent,
    CASE WHEN c.attempt = 1 THEN greatest(0, extract(epoch FROM now() - ${READY_AT})) END::float8 AS waited_s
  FROM (SELECT r.claim_id, u.* FROM ${receipts} r,
      unnest(r.ids, r.attempts, r.first_attempts) WITH ORDINALITY AS u (id, attempt, first_attempt, place)) AS c
    JOIN invocations i ON i.invocation_id = c.id
  WHERE i.invocation_id = ANY (ARRAY (SELECT unnest(ids) FROM ${receipts}))`;
