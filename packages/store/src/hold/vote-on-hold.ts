import { DAY_MS, type Identity, type QueueName, type Role, whyMayNotRelease } from '@capstan/contracts';
import { sql } from 'kysely';
import { appendAudit } from '../audit/append-audit.js';
import { type Readied, readied } from '../claim/readied.js';
import type { Db } from '../open-store.js';
import { notifyHold } from './notify-hold.js';
import { hashesOf, type Proposal, proposeCall } from './propose-call.js';
import { getHold, type HeldCall, lockHold } from './read-holds.js';

export type ReleaseVote = {
  tenant: string;
  hold_id: string;
  voter: { actor: string; roles: Role[]; grant_id?: string; identity?: Identity | undefined };
  comment: string | null;
  proposal: Proposal;
  /** The hash of the inputs that the voter saw and that the proposal is based on. */
  seen_input_hash: string;
  /** Nobody else could vote, so the voter may release their own call. */
  alone?: boolean;
};

/**
 * `voted`: more votes are needed · `known`: this actor has already voted for this · `moved`: somebody changed the inputs in the
 * meantime · `decided`: it is no longer pending.
 */
export type Voted =
  /** `readied` is empty if the call has to wait for its start time or a quota. */
  | { kind: 'released'; readied: Readied }
  | { kind: 'voted' | 'known' | 'moved' | 'decided' | 'missing' }
  | { kind: 'refused'; why: string };

/**
 * Records one vote and, if it is the last one needed, releases the call. The invocation is locked, so concurrent voters see each
 * other's votes.
 */
export async function voteOnHold(db: Db, vote: ReleaseVote): Promise<Voted> {
  const { proposal, voter } = vote;
  const hold = await lockHold(db, vote.tenant, vote.hold_id);
  if (!hold) return { kind: 'missing' };
  if (hold.status !== 'pending' || Date.parse(hold.expires_at) <= (await now(db))) return { kind: 'decided' };
  if (hold.question) return { kind: 'refused', why: 'it asks for answers, not for an agreement' };
  if (hold.input_hash !== vote.seen_input_hash) return { kind: 'moved' };
  const approvals = proposal.decision.approvals ?? hold.approvals;
  const why = whyMayNotRelease(vote.alone ? { ...approvals, allow_self: true } : approvals, hold.actor, voter);
  if (why) return { kind: 'refused', why };
  const round = await proposeCall(db, hold, proposal, { ...voter, comment: vote.comment });
  if (!(await addVote(db, vote, round))) return { kind: 'known' };
  const given = (await getHold(db, vote.tenant, vote.hold_id))?.given_by.length ?? 0;
  const required = approvals.required ?? 1;
  const { grant_id, identity } = voter;
  await appendAudit(db, [
    {
      tenant: hold.tenant,
      actor: voter.actor,
      event: given >= required ? 'hold.release' : 'hold.vote',
      subject: hold.hold_id,
      detail: {
        ...hashesOf(proposal),
        given,
        required,
        comment: vote.comment,
        ...(grant_id ? { grant_id } : {}),
        ...(identity ? { identity } : {}),
      },
    },
  ]);
  if (given < required) return { kind: 'voted' };
  return { kind: 'released', readied: await release(db, hold, vote, approvals.expires_in_ms) };
}

async function now(db: Db): Promise<number> {
  const { rows } = await sql<{ now: string }>`SELECT now() AS now`.execute(db);
  return Date.parse(rows[0]?.now ?? '');
}

async function addVote(db: Db, { hold_id, voter, comment, proposal }: ReleaseVote, round: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('hold_entries')
    .values({
      hold_id,
      actor: voter.actor,
      kind: 'release',
      round,
      comment,
      ...hashesOf(proposal),
      previous_input_hash: null,
      changed: null,
      grant_id: voter.grant_id ?? null,
      iss: voter.identity?.iss ?? null,
      sub: voter.identity?.sub ?? null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['hold_id', 'round', 'actor', 'input_hash', 'descriptor_hash', 'policy_hash'])
        .where('kind', '=', sql.lit('release'))
        .doNothing(),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * The approval is bound to the three hashes and expires when the hold would have expired. An earlier deadline of the submitter stays
 * in force, and a call with a later start time waits for it.
 */
async function release(
  db: Db,
  hold: HeldCall,
  { voter, comment, proposal }: ReleaseVote,
  expires_in_ms = DAY_MS,
): Promise<Readied> {
  const { rows } = await sql<{ status: string; expires_at: string; runner: QueueName }>`
    WITH released AS (
      UPDATE work SET status = CASE WHEN run_at > now() OR quota_scopes IS NOT NULL THEN 'deferred' ELSE 'queued' END,
        run_at = CASE WHEN run_at > now() THEN run_at END,
        expires_at = CASE WHEN h.expires_in_ms < ${expires_in_ms - 1000} THEN work.expires_at
          ELSE greatest(now(), run_at) + ${expires_in_ms} * interval '1 millisecond' END
      FROM holds h WHERE h.hold_id = ${hold.hold_id} AND work.invocation_id = ${hold.invocation_id} AND work.status = 'held'
      RETURNING work.invocation_id, work.status, work.expires_at, runner
    ), lasting AS (
      UPDATE invocations i SET expires_at = r.expires_at FROM released r WHERE i.invocation_id = r.invocation_id
    )
    SELECT status, expires_at, runner FROM released`.execute(db);
  const [row] = rows;
  if (!row) throw new Error(`${hold.invocation_id} is not held, but its hold is pending`);
  const [released] = await db
    .updateTable('holds')
    .set({
      status: 'released',
      approved_input_hash: proposal.input_hash,
      approved_descriptor_hash: proposal.descriptor_hash,
      approved_policy_hash: proposal.policy_hash,
      approval_expires_at: row.expires_at,
      decided_at: sql<string>`now()`,
      decided_by: voter.actor,
    })
    .where('hold_id', '=', hold.hold_id)
    .returning(['status', 'expires_at', 'decided_by'])
    .execute();
  if (released) await notifyHold(db, 'hold.decided', [{ ...hold, ...released, comment }]);
  const { invocation_id } = hold;
  return readied(row.status === 'queued' ? [{ invocation_id, runner: row.runner }] : []);
}
