import { admit, type Call, type FactsOf } from '@capstan/admission';
import type { Backbone } from '@capstan/backbone';
import { Failure } from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import type { NewInvocation } from '@capstan/store/invocation';

/** A denied call is also a row, which records the decision. */
export type Admitted = { ok: true; row: NewInvocation } | { ok: false; reason: string };

/** Admits a call without a waiting client: a step of a plan, or a start of a schedule. */
export function admitUnsent(
  parts: Pick<Backbone, 'catalog' | 'rules'>,
  policy: CompiledPolicy,
  call: Omit<Call, 'mode' | 'unattended'>,
  facts?: FactsOf,
): Admitted {
  try {
    return { ok: true, row: admit(parts, policy, { ...call, mode: 'execution', unattended: true }, facts) };
  } catch (error) {
    if (error instanceof Failure) return { ok: false, reason: error.message };
    throw error;
  }
}
