import type { CatalogEntry } from '@capstan/catalog';
import type { Decision } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import type { Claimed } from '@capstan/store/claim';
import type { Finished } from './to-settlement.js';
import type { WorkerContext } from './worker-context.js';

/**
 * A held call runs only with an approval of exactly these inputs (hashed again), this tool and this policy, which must still be
 * in force. Null if it may run. A call approved in another form is held again; a call never held is denied.
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
