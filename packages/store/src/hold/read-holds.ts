import {
  type Answers,
  type Approval,
  type Approvals,
  type Decision,
  type HoldEdit,
  type HoldEntry,
  type HoldSort,
  type HoldStatus,
  type InvocationStatus,
  type JsonObject,
  loneInvocationId,
  type Page,
  type Question,
  type QueueName,
  type Role,
} from '@capstan/contracts';
import { sql } from 'kysely';
import type { Db } from '../open-store.js';
import { type PageWanted, pageOf } from '../page-of.js';

/** A hold and its call, as it would run now. */
export type HeldCall = {
  hold_id: string;
  invocation_id: string;
  run_id: string | null;
  step_id: string | null;
  tenant: string;
  actor: string;
  roles: Role[];
  tool_id: string;
  runner: QueueName;
  status: HoldStatus;
  round: number;
  returned_because: string | null;
  approvals: Approvals;
  given_by: string[];
  edits: HoldEdit[];
  inputs: JsonObject;
  input_hash: string;
  original_inputs: JsonObject | null;
  original_input_hash: string | null;
  descriptor_hash: string;
  policy_hash: string;
  decision: Decision;
  mode: 'execution' | 'planning';
  session_id: string | null;
  labels: Record<string, string>;
  spec_frozen: boolean | null;
  spec_hash: string | null;
  timeout_ms: number;
  created_at: string;
  expires_at: string;
  decided_at: string | null;
  decided_by: string | null;
  approval: Approval | null;
  /** The question, and the answers so far. */
  question: Question | null;
  answers: Answers | null;
  /** The attempt is running and waits for the answers. */
  live: boolean;
};

/**
 * A vote counts in its round, for the tool and the policy for which it was given. An edit that needs new votes starts the next round.
 * After any other edit, votes of people who looked at the call stay valid, but votes by grants do not.
 */
const COUNTS = sql.raw(`e.kind = 'release' AND e.round = h.round AND e.descriptor_hash = i.descriptor_hash
  AND e.policy_hash = i.policy_hash AND (e.grant_id IS NULL OR e.input_hash = i.input_hash)`);

const SELECT = sql`
  SELECT h.seq, h.hold_id, h.invocation_id, i.run_id, h.tenant, h.actor, i.roles, h.tool_id, i.runner, h.status, h.round,
    h.returned_because, coalesce(h.approvals, '{}') AS approvals,
    ARRAY (SELECT e.actor FROM hold_entries e WHERE e.hold_id = h.hold_id AND ${COUNTS} GROUP BY e.actor ORDER BY min(e.seq)) AS given_by,
    coalesce((SELECT json_agg(json_build_object('at', e.at, 'actor', e.actor, 'changed', e.changed, 'previous_input_hash',
      e.previous_input_hash, 'input_hash', e.input_hash) ORDER BY e.seq)
      FROM hold_entries e WHERE e.hold_id = h.hold_id AND e.kind = 'edit'), '[]') AS edits,
    (SELECT s.step_id FROM steps s WHERE s.run_id = i.run_id AND s.element = -1
      AND s.step = substring(h.invocation_id FROM '^inv_[A-Za-z0-9_-]{21}-([0-9]{1,9})')::int) AS step_id,
    i.inputs, i.input_hash, h.original_inputs, h.original_input_hash, i.descriptor_hash, i.policy_hash, i.decision, i.mode,
    i.session_id, i.labels, i.spec_frozen, i.spec_hash, i.timeout_ms, h.created_at, h.expires_at, h.decided_at, h.decided_by,
    CASE WHEN h.approved_input_hash IS NOT NULL THEN json_build_object('input_hash', h.approved_input_hash,
      'descriptor_hash', h.approved_descriptor_hash, 'policy_hash', h.approved_policy_hash,
      'expires_at', h.approval_expires_at, 'used_at', h.used_at) END AS approval, h.question, h.answers, h.live
  FROM holds h JOIN invocations i ON i.invocation_id = h.invocation_id`;

export async function getHold(db: Db, tenant: string, hold_id: string): Promise<HeldCall | undefined> {
  const { rows } = await sql<HeldCall>`${SELECT} WHERE h.hold_id = ${hold_id} AND h.tenant = ${tenant}`.execute(db);
  return rows[0] && shown(rows[0]);
}

/** Postgres formats times in JSON differently. */
const shown = <Row extends HeldCall>(row: Row): Row => ({
  ...row,
  edits: row.edits.map((edit) => ({ ...edit, at: new Date(edit.at).toISOString() })),
  approval: row.approval && {
    ...row.approval,
    expires_at: inUtc(row.approval.expires_at),
    used_at: inUtc(row.approval.used_at),
  },
});
const inUtc = (time: string | null) => (time === null ? null : new Date(time).toISOString());

/**
 * Waits for other requests that are deciding on this hold. A pending hold is changed with its invocation locked. If it was decided in
 * the meantime, the invocation is not locked: claims skip locked rows, and a call that has just been released should be claimed.
 */
export async function lockHold(db: Db, tenant: string, hold_id: string): Promise<HeldCall | undefined> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${hold_id}, 0))`.execute(db);
  const hold = await getHold(db, tenant, hold_id);
  if (hold?.status !== 'pending') return hold;
  await sql`SELECT FROM work WHERE invocation_id = ${hold.invocation_id} FOR UPDATE`.execute(db);
  return getHold(db, tenant, hold_id);
}

export type HoldsWanted = {
  status?: HoldStatus | undefined;
  actor?: string | undefined;
  /** Matches any of these. */
  tool_ids?: string[] | undefined;
  run_id?: string | undefined;
  /** The name of a rule that holds it. */
  rule?: string | undefined;
};

/** A page after `cursor`, newest first, or those that expire soonest. */
type HoldPage = PageWanted & { sort?: HoldSort | undefined };

export async function listHolds(
  db: Db,
  tenant: string,
  { status, actor, tool_ids, run_id, rule }: HoldsWanted,
  { limit, cursor, sort = 'created_at' }: HoldPage,
): Promise<Page<HeldCall>> {
  const conditions = [sql`h.tenant = ${tenant}`];
  if (status) conditions.push(sql`h.status = ${sql.lit(status)}`);
  if (actor !== undefined) conditions.push(sql`h.actor = ${actor}`);
  if (tool_ids) conditions.push(sql`h.tool_id = ANY (${tool_ids})`);
  if (run_id !== undefined)
    conditions.push(
      sql`(i.run_id = ${run_id} OR (i.run_id IS NULL AND h.invocation_id = ${loneInvocationId(run_id)}))`,
    );
  if (rule !== undefined) {
    const look = JSON.stringify([{ id: rule, matched: true }]);
    conditions.push(sql`(i.decision ->> 'rule_matched' = ${rule} OR (i.decision -> 'rules')::jsonb @> ${look}::jsonb)`);
  }
  const soonest = sort === 'expires_at';
  if (cursor !== undefined)
    conditions.push(
      soonest
        ? sql`(h.expires_at, h.seq) > (SELECT l.expires_at, l.seq FROM holds l WHERE l.tenant = ${tenant} AND l.seq = ${cursor})`
        : sql`h.seq < ${cursor}`,
    );
  const order = soonest ? sql`h.expires_at, h.seq` : sql`h.seq DESC`;
  const { rows } = await sql<HeldCall & { seq: string }>`
    ${SELECT} WHERE ${sql.join(conditions, sql` AND `)} ORDER BY ${order} LIMIT ${limit + 1}`.execute(db);
  return pageOf(rows, limit, shown);
}

/** The entries of each of these holds, oldest first. */
export async function listHoldEntries(db: Db, hold_ids: string[]): Promise<Map<string, HoldEntry[]>> {
  const { rows } = await sql<HoldEntry & { hold_id: string; iss: string | null; sub: string | null }>`
    SELECT e.hold_id, e.iss, e.sub, e.at, e.actor, e.kind, e.comment, e.round, e.input_hash, e.descriptor_hash, e.policy_hash, e.previous_input_hash,
      e.changed, e.grant_id, (${COUNTS}) AS counts
    FROM hold_entries e JOIN holds h ON h.hold_id = e.hold_id JOIN invocations i ON i.invocation_id = h.invocation_id
    WHERE e.hold_id = ANY (${hold_ids}) ORDER BY e.seq`.execute(db);
  const entries = new Map<string, HoldEntry[]>();
  for (const { hold_id, iss, sub, ...row } of rows) {
    const entry = { ...row, counts: row.counts === true, identity: iss !== null && sub !== null ? { iss, sub } : null };
    entries.set(hold_id, [...(entries.get(hold_id) ?? []), entry]);
  }
  return entries;
}

export type DecidedCall = Pick<
  HeldCall,
  'hold_id' | 'invocation_id' | 'actor' | 'status' | 'decided_by' | 'decided_at' | 'inputs'
> & { comment: string | null; outcome: InvocationStatus; error: string | null };

/** The latest decided holds of a tool with the ends of their calls, and how many there are of each kind. */
export async function listDecidedHolds(
  db: Db,
  { tenant, tool_id, hold_id }: Pick<HeldCall, 'tenant' | 'tool_id' | 'hold_id'>,
  limit: number,
): Promise<{ counts: Partial<Record<HoldStatus, number>>; items: DecidedCall[] }> {
  const decided = sql`h.tenant = ${tenant} AND h.tool_id = ${tool_id} AND h.status <> 'pending' AND h.hold_id <> ${hold_id}`;
  const { rows: items } = await sql<DecidedCall>`
    SELECT h.hold_id, h.invocation_id, h.actor, h.status, h.decided_by, h.decided_at, i.inputs, s.status AS outcome, r.error,
      (SELECT e.comment FROM hold_entries e WHERE e.hold_id = h.hold_id AND e.kind IN ('release', 'reject', 'withdraw')
        AND e.round = h.round ORDER BY e.seq DESC LIMIT 1) AS comment
    FROM holds h JOIN invocations i ON i.invocation_id = h.invocation_id
      JOIN invocation_states s ON s.invocation_id = h.invocation_id
      LEFT JOIN results r ON r.invocation_id = h.invocation_id
    WHERE ${decided} ORDER BY h.seq DESC LIMIT ${limit}`.execute(db);
  const { rows: counts } = await sql<{ status: HoldStatus; count: number }>`
    SELECT h.status, count(*)::int AS count FROM holds h WHERE ${decided} GROUP BY h.status`.execute(db);
  return { items, counts: Object.fromEntries(counts.map(({ status, count }) => [status, count])) };
}
