import type { CatalogEntry } from '@capstan/catalog';
import type { Decision } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Claimed } from '@capstan/store';
import type { Finished } from './to-settlement.js';
import type { WorkerContext } from './worker-context.js';

/**
 * What is not simply allowed runs only with an approval of exactly this: the inputs at hand (hashed anew), the tool at hand,
 * and the policy, which must still be in force. Null when it may run. What people agreed to in another form goes back to
 * them; what nobody was ever asked about is denied.
 */
export async function whyRefused(
  worker: Pick<WorkerContext, 'approval'>,
  claimed: Claimed,
  { descriptor_hash }: CatalogEntry,
  decision: Decision,
): Promise<Finished | null> {
  if (decision.effect !== 'hold') return { kind: 'denied', decision };
  const about_to_run = { input_hash: hashJson(claimed.inputs), descriptor_hash, policy_hash: claimed.policy_hash };
  const approval = await worker.approval(claimed, about_to_run);
  if (approval.kind === 'valid') return null;
  return approval.kind === 'none'
    ? { kind: 'denied', decision }
    : { kind: 'returned', why: approval.why, expires_in_ms: approval.expires_in_ms };
}
