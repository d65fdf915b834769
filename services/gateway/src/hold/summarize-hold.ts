import { type Answers, type HoldSummary, loneRunId, type Question } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { HeldCall } from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';

const redactor = createRedactor({ values: [] });

/** Policy may allow the edited inputs without approval, but a hold that has started still needs its votes. */
const reasonOf = ({ status, decision, question }: HeldCall): string =>
  question && status === 'pending'
    ? 'its tool asks a question'
    : status === 'pending' && decision.effect !== 'hold'
      ? `still to be agreed to, although it is ${decision.reason} as it was changed`
      : decision.reason;

const openQuestions = ({ requests }: Question, answers: Answers | null): Question => ({
  requests: Object.fromEntries(Object.entries(requests).filter(([key]) => !(key in (answers ?? {})))),
});

/** Reasons are redacted, because they may quote the inputs. */
export function summarize({ catalog }: Pick<GatewayContext, 'catalog'>, hold: HeldCall): HoldSummary {
  const { required = 1, allow_self = false } = hold.approvals;
  return {
    hold_id: hold.hold_id,
    invocation_id: hold.invocation_id,
    run_id: hold.run_id ?? loneRunId(hold.invocation_id),
    tool_id: hold.tool_id,
    actor: hold.actor,
    status: hold.status,
    round: hold.round,
    reason: redactor.text(reasonOf(hold)),
    returned_because: hold.returned_because,
    risk: catalog.get(hold.tool_id)?.descriptor.risk ?? null,
    approvals: { ...hold.approvals, required, allow_self, given: hold.given_by.length, given_by: hold.given_by },
    input_hash: hold.input_hash,
    original_input_hash: hold.original_input_hash,
    question: hold.question && openQuestions(hold.question, hold.answers),
    edits: hold.edits,
    created_at: hold.created_at,
    expires_at: hold.expires_at,
    decided_at: hold.decided_at,
    decided_by: hold.decided_by,
  };
}
