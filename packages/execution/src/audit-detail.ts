import { describeExecution } from '@capstan/catalog';
import type { Descriptor, JsonObject, Risk } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { AuditEvent } from '@capstan/store/audit';
import type { Claimed } from '@capstan/store/claim';

const HAS_DETAIL: Record<Risk, boolean> = { LOW: false, MED: false, HIGH: true, CRITICAL: true };

/**
 * The detail that the audit records about a call, by risk. Null for LOW and MED: readers of the audit get it from the record of the
 * call, so that harmless calls cost nothing extra. HIGH records what was executed, by whom and where; CRITICAL also the
 * redacted inputs.
 */
export function auditDetail(claimed: Claimed, descriptor: Descriptor, redactor: Redactor): JsonObject | null {
  const { risk } = descriptor;
  if (!HAS_DETAIL[risk]) return null;
  const { tool_id, runner, session_id, input_hash, policy_hash, attempt } = claimed;
  const { action, command } = describeExecution(descriptor, claimed.inputs);
  return {
    ...{ tool_id, runner, risk, action, session_id, attempt, input_hash, policy_hash },
    command: command === null ? null : redactor.text(command).slice(0, MAX_COMMAND),
    ...(risk === 'CRITICAL'
      ? { inputs: bounded(redactor.json(claimed.inputs)), side_effects: descriptor.side_effects }
      : {}),
  };
}

/** Written before the tool starts: a call of HIGH or CRITICAL risk does not run without it. */
export const startEvent = ({ tenant, actor, invocation_id }: Claimed, detail: JsonObject): AuditEvent => ({
  ...{ tenant, actor, event: 'invocation.start', subject: invocation_id, detail },
});

const MAX_COMMAND = 1000;
const MAX_INPUTS = 16_384;

/** Events are read and chained one by one, so they must stay small. Large inputs are in the record of the call, under their hash. */
const bounded = <T>(inputs: T): T | string =>
  JSON.stringify(inputs).length > MAX_INPUTS ? 'too large for the audit; input_hash names them' : inputs;
