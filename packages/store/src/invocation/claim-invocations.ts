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
  /** Whatever fails is tried again, after so long at first. */
  retry_backoff_ms?: number | null;
  /** Whether its end makes room in a quota, or is told to somebody. */
  followed: boolean;
};

/** A worker without a live lease claims nothing: it may have been declared lost already. */
export const CLAIMABLE = `status = 'queued' AND (expires_at IS NULL OR expires_at > now())
  AND EXISTS (SELECT FROM workers WHERE worker_id = $1 AND lease_until > now())`;

/** `picked` has locked rows that are claimable, so nothing can have moved them meanwhile; `tenants` are those who waited. The ids go in as an array:
 * joined, a plan made on small tables reads all of a large one. */
export const takeOver = (picked: string) => `
  WITH RECURSIVE ${picked}
  UPDATE invocations i SET status = 'running', attempt = i.attempt + 1, worker_id = $1, started_at = now(),
    available_at = NULL
  WHERE i.invocation_id = ANY (ARRAY (SELECT invocation_id FROM picked))
  RETURNING i.invocation_id, i.attempt, i.tenant, i.actor, i.roles, i.tool_id, i.runner, i.inputs, i.input_hash,
    i.descriptor_hash, i.policy_hash, i.mode, i.labels, i.spec_frozen, i.spec_hash, i.session_id, i.idempotent,
    i.priority, i.timeout_ms, i.max_attempts, i.first_attempt, i.retry_backoff_ms,
    i.quota_scopes IS NOT NULL OR i.watched IS NOT NULL AS followed, (SELECT count(*)::int FROM tenants) AS tenants,
    (SELECT tenant FROM tenants OFFSET (SELECT greatest(count(*) - 1, 0) FROM tenants)) AS last_tenant`;

/** Also here, so that a pause holds from the moment it is committed. */
const NOT_PAUSED = 'NOT EXISTS (SELECT FROM queues WHERE runner = $2 AND paused)';
const READY = `runner = $2 AND status = 'queued' AND available_at IS NULL`;

/** One look into the index for each tenant that waits, however much it has waiting. */
const tenantsWhere = (name: string, range: string) => `${name} AS (
    (SELECT tenant FROM invocations WHERE ${READY} AND ${range} ORDER BY tenant LIMIT 1)
    UNION ALL
    (SELECT next.tenant FROM ${name}, LATERAL (
      SELECT tenant FROM invocations WHERE ${READY} AND ${range} AND tenant > ${name}.tenant ORDER BY tenant LIMIT 1
    ) next)
  )`;

/**
 * Retries whose backoff has passed go first: they have waited longest. Then every tenant in turn, from the one after the
 * last that was served ($4), each for an equal share: whoever floods a queue waits for itself alone.
 */
const NEXT: Statement = {
  name: 'claim-next',
  text: takeOver(`due AS (
    SELECT invocation_id FROM invocations
    WHERE runner = $2 AND available_at <= now() AND ${CLAIMABLE} AND ${NOT_PAUSED}
    ORDER BY available_at LIMIT $3 FOR UPDATE SKIP LOCKED
  ), ${tenantsWhere('later', 'tenant > $4')}, ${tenantsWhere('earlier', 'tenant <= $4')}, tenants AS MATERIALIZED (
    SELECT tenant FROM later UNION ALL SELECT tenant FROM earlier LIMIT $3 - (SELECT count(*) FROM due)
  ), ready AS (
    SELECT one.invocation_id FROM tenants, LATERAL (
      SELECT invocation_id FROM invocations
      WHERE tenant = tenants.tenant AND ${READY} AND ${CLAIMABLE} AND ${NOT_PAUSED}
      ORDER BY priority, seq
      LIMIT ($3 - (SELECT count(*) FROM due)) / (SELECT count(*) FROM tenants) FOR UPDATE SKIP LOCKED
    ) one
  ), picked AS (SELECT invocation_id FROM due UNION ALL SELECT invocation_id FROM ready)`),
};

type Row = Claimed & { tenants: number; last_tenant: string | null };

/**
 * Claims as many as there are, up to `limit`, in the order of turns; `turn` remembers which tenant was served last. Shares
 * of several tenants may leave some of the limit over, which goes to those who have more.
 */
export async function claimNext(
  store: Store,
  worker_id: string,
  runner: RunnerType,
  limit: number,
  turn: { last: string } = { last: '' },
): Promise<Claimed[]> {
  const all: Claimed[] = [];
  for (;;) {
    const rows = await store.query<Row>(NEXT, [worker_id, runner, limit - all.length, turn.last]);
    for (const { tenants: _, last_tenant: __, ...claimed } of rows) all.push(claimed);
    const [first] = rows;
    turn.last = first?.last_tenant ?? turn.last;
    if (!first || first.tenants <= 1 || all.length >= limit) return all;
  }
}
