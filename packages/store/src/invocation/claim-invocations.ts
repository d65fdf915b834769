import type { JsonObject, Role, RunnerType } from '@capstan/contracts';
import type { Statement, Store } from '../open-store.js';

/** All that a worker needs to run an invocation. `attempt` is the fencing token of this claim. */
export type Claimed = {
  invocation_id: string;
  attempt: number;
  tenant: string;
  actor: string;
  roles: Role[];
  tool_id: string;
  runner: RunnerType;
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
  first_attempt: number;
};

/** A worker without a live lease claims nothing: it may have been declared lost already. */
const CLAIMABLE = `status = 'queued' AND (expires_at IS NULL OR expires_at > now())
  AND EXISTS (SELECT FROM workers WHERE worker_id = $1 AND lease_until > now())`;

/** `picked` has locked rows that are claimable, so nothing can have moved them meanwhile. */
const takeOver = (picked: string) => `
  WITH ${picked}
  UPDATE invocations i SET status = 'running', attempt = i.attempt + 1, worker_id = $1, started_at = now(),
    available_at = NULL
  FROM picked WHERE i.invocation_id = picked.invocation_id
  RETURNING i.invocation_id, i.attempt, i.tenant, i.actor, i.roles, i.tool_id, i.runner, i.inputs, i.input_hash,
    i.descriptor_hash, i.policy_hash, i.mode, i.labels, i.spec_frozen, i.spec_hash, i.session_id, i.idempotent, i.priority, i.timeout_ms,
    i.max_attempts, i.first_attempt`;

/** Sorted, so that two workers that got the same ids (a delivery may come twice) cannot deadlock. */
const BY_IDS: Statement = {
  name: 'claim-by-ids',
  text: takeOver(`picked AS (
    SELECT invocation_id FROM invocations WHERE invocation_id = ANY ($2) AND ${CLAIMABLE}
    ORDER BY invocation_id FOR UPDATE
  )`),
};

export const claimByIds = (store: Store, worker_id: string, ids: string[]): Promise<Claimed[]> =>
  store.query<Claimed>(BY_IDS, [worker_id, ids]);

/** Also here, so that a pause holds from the moment it is committed. */
const NOT_PAUSED = 'NOT EXISTS (SELECT FROM queues WHERE runner = $2 AND paused)';

/** Retries whose backoff has passed go first: they have waited longest. */
const NEXT: Statement = {
  name: 'claim-next',
  text: takeOver(`due AS (
    SELECT invocation_id FROM invocations
    WHERE runner = $2 AND available_at <= now() AND ${CLAIMABLE} AND ${NOT_PAUSED}
    ORDER BY available_at LIMIT $3 FOR UPDATE SKIP LOCKED
  ), ready AS (
    SELECT invocation_id FROM invocations
    WHERE runner = $2 AND available_at IS NULL AND ${CLAIMABLE} AND ${NOT_PAUSED}
    ORDER BY priority, seq LIMIT $3 - (SELECT count(*) FROM due) FOR UPDATE SKIP LOCKED
  ), picked AS (SELECT invocation_id FROM due UNION ALL SELECT invocation_id FROM ready)`),
};

export const claimNext = (store: Store, worker_id: string, runner: RunnerType, limit: number): Promise<Claimed[]> =>
  store.query<Claimed>(NEXT, [worker_id, runner, limit]);
