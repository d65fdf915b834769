import { proposeRelease } from '@capstan/admission';
import { type Backbone, tellReady } from '@capstan/backbone';
import { type Grant, Risk, whyMayNotRelease } from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy } from '@capstan/policy';
import { getHold, grantsFor, type HeldCall, policyInForce, type Readied, takeGrant, voteOnHold } from '@capstan/store';
import type { Kept } from '../kept.js';

type HoldName = { tenant: string; hold_id: string };

/**
 * Votes that were given in advance. Each is one vote of who gave it, under the rules for any vote: where two people have to
 * agree, it takes two grants, or a grant and a person. Whoever does this twice, or at the same time as another, finds the vote
 * cast already.
 */
export async function applyGrants(
  backbone: Backbone,
  kept: Kept<CompiledPolicy>,
  { tenant, hold_id }: HoldName,
): Promise<void> {
  const { store } = backbone;
  const hold = await getHold(store.db, tenant, hold_id);
  // One that came back is for a person to look at; and what would come back each time must not go round for ever.
  if (hold?.status !== 'pending' || hold.round > 1 || hold.question) return;
  const grants = await grantsFor(store.db, hold);
  if (grants.length === 0) return;
  const policy = await policyInForce(store.db, hold);
  if (!policy) return;
  const compiled = await kept.get(policy.policy_hash, async () => compilePolicy(policy.document));
  const proposed = proposeRelease(backbone, hold, compiled);
  // A person sees why, once they try to release it.
  if (!proposed.ok) return;
  const { risk } = proposed.descriptor;
  const approvals = proposed.proposal.decision.approvals ?? hold.approvals;
  for (const grant of grants) {
    if (!covers(grant, risk) || whyMayNotRelease(approvals, hold.actor, grant)) continue;
    if (await useGrant(backbone, hold, grant, proposed.proposal)) return;
  }
}

const covers = ({ max_risk }: Grant, risk: Risk): boolean =>
  max_risk === null || Risk.options.indexOf(risk) <= Risk.options.indexOf(max_risk);

/** True when nothing more is to be voted on. */
async function useGrant(
  backbone: Backbone,
  hold: HeldCall,
  { actor, roles, grant_id, comment }: Grant,
  proposal: Parameters<typeof voteOnHold>[1]['proposal'],
): Promise<boolean> {
  const { hold_id, tenant, input_hash } = hold;
  const used = await backbone.store.db
    .transaction()
    .execute(async (db) => {
      const vote = {
        tenant,
        hold_id,
        voter: { actor, roles, grant_id },
        comment,
        proposal,
        seen_input_hash: input_hash,
      };
      const voted = await voteOnHold(db, vote);
      const counted = voted.kind === 'released' || voted.kind === 'voted';
      if (counted && !(await takeGrant(db, grant_id))) throw new UsedUp();
      return voted;
    })
    .catch((error: unknown) => {
      if (error instanceof UsedUp) return { kind: 'known' } as const;
      throw error;
    });
  if (used.kind === 'released') tell(backbone, hold, used.readied);
  return used.kind !== 'voted' && used.kind !== 'known';
}

/** Others have used it up meanwhile: the vote is undone with its transaction. */
class UsedUp extends Error {}

function tell(backbone: Backbone, { invocation_id }: HeldCall, readied: Readied): void {
  backbone.relay.publish('due', ['now', 'events']);
  backbone.relay.publish('changed', [invocation_id]);
  tellReady(backbone, readied);
}
