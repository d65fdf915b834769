import {
  type Decision,
  type Descriptor,
  Failure,
  type FailureName,
  type JsonObject,
  queueOf,
} from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { HeldCall, Proposal } from '@capstan/store';
import { type Judgement, judge, type Snapshots } from './judge.js';

export type Proposed =
  | { ok: true; proposal: Proposal; descriptor: Descriptor }
  | { ok: false; kind: FailureName; why: string; decision?: Decision };

/**
 * What would run were a held call released now: the tool as it is, the inputs as they are to be, and what the policy in force
 * says of them. A denial cannot be released.
 */
export function proposeRelease(
  snapshots: Snapshots,
  hold: HeldCall,
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
