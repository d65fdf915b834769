import { proposeRelease } from '@capstan/admission';
import { type Backbone, tellReady } from '@capstan/backbone';
import { type Grant, Risk, whyMayNotRelease } from '@capstan/contracts';
import type { PolicyCache } from '@capstan/policy';
import type { Readied } from '@capstan/store/claim';
import { getHold, grantsFor, type HeldCall, policyInForce, takeGrant, voteOnHold } from '@capstan/store/hold';

type HoldName = { tenant: string; hold_id: string };

/**
 * Casts votes that were given in advance. A grant counts as one vote of the person who gave it, under the rules for any vote: a
 * hold that needs two people needs two grants, or a grant and a vote. Safe to repeat and to run concurrently: a second attempt finds
 * the vote already cast.
 */
export async function applyGrants(
  backbone: Backbone,
  policies: PolicyCache,
  { tenant, hold_id }: HoldName,
): Promise<void> {
  const { store } = backbone;
  const hold = await getHold(store.db, tenant, hold_id);
  // A call that was held again needs a person. Releasing it by a grant could loop forever.
  if (hold?.status !== 'pending' || hold.round > 1 || hold.question) return;
  const grants = await grantsFor(store.db, hold);
  if (grants.length === 0) return;
  const policy = await policyInForce(store.db, hold);
  if (!policy) return;
  const proposed = proposeRelease(backbone, hold, policies.of(policy));
  // The reason is shown to the person who tries to release it.
  if (!proposed.ok) return;
  const { risk, changed } = proposed.descriptor;
  // The grant was given for the tool as it was then.
  if (changed) return;
  const approvals = proposed.proposal.decision.approvals ?? hold.approvals;
  for (const grant of grants) {
    if (!covers(grant, risk) || whyMayNotRelease(approvals, hold.actor, grant)) continue;
    if (await useGrant(backbone, hold, grant, proposed.proposal)) return;
  }
}

const covers = ({ max_risk }: Grant, risk: Risk): boolean =>
  max_risk === null || Risk.options.indexOf(risk) <= Risk.options.indexOf(max_risk);

/** Returns true if the hold needs no further votes. */
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

/** Other holds have used up the grant in the meantime. Thrown to roll back the vote. */
class UsedUp extends Error {}

function tell(backbone: Backbone, { invocation_id }: HeldCall, readied: Readied): void {
  backbone.relay.publish('due', ['now', 'events']);
  backbone.relay.publish('changed', [invocation_id]);
  tellReady(backbone, readied);
}
