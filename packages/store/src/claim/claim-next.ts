import type { QueueName } from '@capstan/contracts';
import { nanoid } from 'nanoid';
import type { Statement, Store } from '../open-store.js';
import { type Claimed, callsOn } from './claimed.js';

/** Calls on one receipt. Settling searches a receipt's calls linearly. */
export const MAX_ON_RECEIPT = 100;

/** Checked here too, so that a pause takes effect when it is committed. */
const NOT_PAUSED = 'NOT EXISTS (SELECT FROM queues WHERE runner = $2 AND paused)';
/** A worker without a live lease claims nothing: it may already have been declared lost. Null claims for the queue. */
const ALIVE = '($1::text IS NULL OR EXISTS (SELECT FROM workers WHERE worker_id = $1 AND lease_until > now()))';
const CLAIMABLE = `(expires_at IS NULL OR expires_at > now()) AND ${ALIVE} AND ${NOT_PAUSED}`;
const READY = `runner = $2 AND status = 'queued' AND available_at IS NULL`;

/** A loose index scan: one lookup for each waiting tenant, however long its backlog. */
const tenantsWhere = (name: string, range: string) => `${name} AS (
    (SELECT tenant FROM work WHERE ${READY} AND ${range} ORDER BY tenant LIMIT 1)
    UNION ALL
    (SELECT next.tenant FROM ${name}, LATERAL (
      SELECT tenant FROM work WHERE ${READY} AND ${range} AND tenant > ${name}.tenant ORDER BY tenant LIMIT 1
    ) next)
  )`;

/**
 * Moves calls from `work` to receipts. Retries whose backoff has passed go first: they have waited longest. Then every tenant
 * in turn gets an equal share, starting after the last one served ($4): a tenant that floods a queue delays only itself. A receipt
 * for the queue has calls of one tenant only, and a call with an expiry has its own, so that it can expire alone.
 *
 * $1 the worker, null for the queue; $2 the runner type; $3 the limit; $4 the tenant served last; $5 the prefix of receipt ids;
 * $6 the most calls on a receipt.
 */
const CLAIM = `
  WITH RECURSIVE due AS (
    SELECT invocation_id FROM work
    WHERE runner = $2 AND status = 'queued' AND available_at <= now() AND ${CLAIMABLE}
    ORDER BY available_at LIMIT $3 FOR UPDATE SKIP LOCKED
  ), ${tenantsWhere('later', 'tenant > $4')}, ${tenantsWhere('earlier', 'tenant <= $4')}, tenants AS MATERIALIZED (
    SELECT tenant FROM later UNION ALL SELECT tenant FROM earlier LIMIT $3 - (SELECT count(*) FROM due)
  ), ready AS (
    SELECT one.invocation_id FROM tenants, LATERAL (
      SELECT invocation_id FROM work
      WHERE tenant = tenants.tenant AND ${READY} AND ${CLAIMABLE}
      ORDER BY priority, seq
      LIMIT ($3 - (SELECT count(*) FROM due)) / (SELECT count(*) FROM tenants) FOR UPDATE SKIP LOCKED
    ) one
  ), taken AS (
    DELETE FROM work WHERE invocation_id = ANY (ARRAY (SELECT invocation_id FROM due UNION ALL SELECT invocation_id FROM ready))
    RETURNING invocation_id, seq, priority, CASE WHEN $1::text IS NULL THEN tenant END AS tenant, attempt + 1 AS attempt, first_attempt, quota_scopes,
      CASE WHEN $1::text IS NULL THEN expires_at END AS expires_at
  ), placed AS (
    SELECT *, dense_rank() OVER (ORDER BY tenant) AS tenant_place,
      (row_number() OVER (PARTITION BY expires_at IS NULL, tenant ORDER BY priority, seq) - 1)
        / CASE WHEN expires_at IS NULL THEN $6::int ELSE 1 END AS place FROM taken
  ), receipts AS (
    INSERT INTO claims (claim_id, runner, worker_id, owned_at, ids, attempts, first_attempts, under_quota, expires_at)
    SELECT $5 || CASE WHEN expires_at IS NULL THEN '-' ELSE '-x' END || tenant_place || '-' || place, $2, $1, CASE WHEN $1::text IS NOT NULL THEN now() END,
      array_agg(invocation_id ORDER BY priority, seq), array_agg(attempt ORDER BY priority, seq),
      array_agg(first_attempt ORDER BY priority, seq), bool_or(quota_scopes IS NOT NULL), min(expires_at)
    FROM placed GROUP BY expires_at IS NULL, tenant_place, place
    RETURNING claim_id, ids, attempts, first_attempts
  ), turn AS (
    SELECT (SELECT count(*)::int FROM tenants) AS tenants,
      (SELECT tenant FROM tenants OFFSET (SELECT greatest(count(*) - 1, 0) FROM tenants)) AS last_tenant
  )`;

const CLAIM_FOR_WORKER: Statement = {
  name: 'claim-next',
  text: `${CLAIM} SELECT turn.*, calls.* FROM (${callsOn('receipts')}) AS calls, turn`,
};

const CLAIM_FOR_QUEUE: Statement = {
  name: 'claim-for-queue',
  text: `${CLAIM}, served AS (
      SELECT DISTINCT i.tenant FROM claims c JOIN invocations i ON i.invocation_id = c.ids[1]
      WHERE c.owned_at IS NULL AND c.worker_id IS NULL AND c.runner = $2
    )
    SELECT turn.*, r.claim_id, cardinality(r.ids) AS size, first.priority,
      first.place = 0 AND first.tenant NOT IN (SELECT tenant FROM served) AS ahead
    FROM turn, receipts r JOIN placed first ON first.invocation_id = r.ids[1]
    ORDER BY first.priority, first.place, first.seq`,
};

/** The tenant served last; the next claim starts after it. */
export type Turn = { last: string };
type OfTurn = { tenants: number; last_tenant: string | null };

/** Claims up to `limit` calls, tenant by tenant. If the equal shares do not use up the limit, tenants with more calls get the rest. */
export async function claimNext(
  store: Store,
  worker_id: string,
  runner: QueueName,
  limit: number,
  turn: Turn = { last: '' },
): Promise<Claimed[]> {
  const all: Claimed[] = [];
  for (;;) {
    const values = [worker_id, runner, limit - all.length, turn.last, `clm_${nanoid()}`, MAX_ON_RECEIPT];
    const rows = await store.query<Claimed & OfTurn>(CLAIM_FOR_WORKER, values);
    for (const { tenants: _, last_tenant: __, ...claimed } of rows) all.push(claimed);
    if (!goesOn(rows, turn) || all.length >= limit) return all;
  }
}

/** A receipt to be delivered by the queue. `ahead`: its tenant has nothing else in the queue, so it goes to the head. */
export type Delivery = { claim_id: string; runner: QueueName; size: number; priority: number; ahead: boolean };

/** Writes receipts without an owner, for the queue to deliver. */
export async function claimForQueue(
  store: Store,
  runner: QueueName,
  limit: number,
  { turn, on_receipt }: { turn: Turn; on_receipt: number },
): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let left = limit; ; ) {
    const values = [null, runner, left, turn.last, `clm_${nanoid()}`, on_receipt];
    const rows = await store.query<Omit<Delivery, 'runner'> & OfTurn>(CLAIM_FOR_QUEUE, values);
    for (const { claim_id, size, priority, ahead } of rows) {
      all.push({ claim_id, runner, size, priority, ahead });
      left -= size;
    }
    if (!goesOn(rows, turn) || left <= 0) return all;
  }
}

/** Whether another claim may find more: with a single tenant, this one already took all that fits. */
function goesOn([first]: readonly OfTurn[], turn: Turn): boolean {
  turn.last = first?.last_tenant ?? turn.last;
  return first !== undefined && first.tenants > 1;
}
