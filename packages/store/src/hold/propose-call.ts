import type { BoundHashes, Decision, Identity, JsonObject, QueueName } from '@capstan/contracts';
import { appendAudit } from '../audit/append-audit.js';
import type { Db } from '../open-store.js';
import { asksTheSame } from './asks-the-same.js';
import type { HeldCall } from './read-holds.js';

/** What would run now: the edited inputs, the decision of the current policy, and the current descriptor of the tool. */
export type Proposal = BoundHashes & {
  inputs: JsonObject;
  decision: Decision;
  runner: QueueName;
  idempotent: boolean;
};

export const hashesOf = ({ input_hash, descriptor_hash, policy_hash }: BoundHashes): BoundHashes => ({
  input_hash,
  descriptor_hash,
  policy_hash,
});

type Editor = { actor: string; comment: string | null; identity?: Identity | undefined };

/** Writes the proposal to the invocation. Returns the round in which votes for it count. */
export async function proposeCall(db: Db, hold: HeldCall, proposal: Proposal, by: Editor): Promise<number> {
  const { inputs, decision, runner, idempotent } = proposal;
  const hashes = hashesOf(proposal);
  const isEdit = hashes.input_hash !== hold.input_hash;
  const isSame = !isEdit && hashes.descriptor_hash === hold.descriptor_hash && hashes.policy_hash === hold.policy_hash;
  if (isSame) return hold.round;
  await db
    .updateTable('invocations')
    .set({ inputs: JSON.stringify(inputs), ...hashes, decision: JSON.stringify(decision), runner, idempotent })
    .where('invocation_id', '=', hold.invocation_id)
    .execute();
  await db.updateTable('work').set({ runner }).where('invocation_id', '=', hold.invocation_id).execute();
  if (decision.approvals)
    await db
      .updateTable('holds')
      .set({ approvals: JSON.stringify(decision.approvals) })
      .where('hold_id', '=', hold.hold_id)
      .execute();
  return isEdit ? recordEdit(db, hold, proposal, by) : hold.round;
}

/** Records both versions of the inputs and who changed them. An edit that invalidates votes starts the next round. */
async function recordEdit(
  db: Db,
  hold: HeldCall,
  proposal: Proposal,
  { actor, comment, identity }: Editor,
): Promise<number> {
  const { hold_id, tenant } = hold;
  const hashes = hashesOf(proposal);
  const changed = changedMembers(hold.inputs, proposal.inputs);
  const votes_kept = hold.given_by.length === 0 || asksTheSame(hold.decision, proposal.decision);
  const round = votes_kept ? hold.round : hold.round + 1;
  await db
    .updateTable('holds')
    .set({
      original_inputs: JSON.stringify(hold.original_inputs ?? hold.inputs),
      original_input_hash: hold.original_input_hash ?? hold.input_hash,
      round,
      ...(votes_kept ? {} : { returned_because: `${actor} changed ${changed.join(', ')}: all who agreed vote again` }),
    })
    .where('hold_id', '=', hold_id)
    .execute();
  await db
    .insertInto('hold_entries')
    .values({
      hold_id,
      actor,
      kind: 'edit',
      round,
      comment,
      ...hashes,
      previous_input_hash: hold.input_hash,
      changed,
      grant_id: null,
      iss: identity?.iss ?? null,
      sub: identity?.sub ?? null,
    })
    .execute();
  const detail = { from: hold.input_hash, to: hashes.input_hash, changed, votes_kept };
  await appendAudit(db, [{ tenant, actor, event: 'hold.edit', subject: hold_id, detail }]);
  return round;
}

function changedMembers(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).sort();
}
