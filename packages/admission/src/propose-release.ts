import {
  type Decision,
  type Descriptor,
  Failure,
  type FailureName,
  type JsonObject,
  queueOf,
} from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { Proposal } from '@capstan/store/hold';
import { type JudgedCall, type Judgement, judge, type Snapshots } from './admit.js';

export type Proposed =
  | { ok: true; proposal: Proposal; descriptor: Descriptor }
  | { ok: false; kind: FailureName; why: string; decision?: Decision };

/**
 * Returns what would run if a held call were released now: the current tool, the new inputs, and the decision of the policy in
 * force. A denied call cannot be released.
 */
export function proposeRelease(
  snapshots: Snapshots,
  hold: JudgedCall,
  policy: Pick<CompiledPolicy, 'decide'>,
  inputs: JsonObject = hold.inputs,
): Proposed {
  let judged: Judgement;
  try {
    judged = judge(snapshots, policy, { ...hold, inputs });
  } catch (error) {
    if (error instanceof Failure) return { ok: false, kind: error.kind, why: error.message };
    throw error;
  }
  const { entry, input_hash, decision } = judged;
  if (decision.effect === 'deny') return { ok: false, kind: 'POLICY_DENIED', why: decision.reason, decision };
  const { descriptor, descriptor_hash } = entry;
  const { policy_hash } = decision;
  const { idempotent } = descriptor.effects;
  return {
    ok: true,
    proposal: { inputs, input_hash, descriptor_hash, policy_hash, decision, runner: queueOf(descriptor), idempotent },
    descriptor,
  };
}
