import { describeExecution } from '@capstan/catalog';
import type { Descriptor, JsonObject, Risk } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { AuditEvent, Claimed } from '@capstan/store';

const TOLD: Record<Risk, boolean> = { LOW: false, MED: false, HIGH: true, CRITICAL: true };

/**
 * What the audit itself says of a call beside its end, which grows with the risk. Of LOW and MED nothing is written: whoever
 * reads the audit is told from the record of the call, so that harmless calls cost nothing more. HIGH has what was executed,
 * by whom and where; CRITICAL the inputs, too, with secrets taken out.
 */
export function auditDetail(claimed: Claimed, descriptor: Descriptor, redactor: Redactor): JsonObject | null {
  const { risk } = descriptor;
  if (!TOLD[risk]) return null;
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

/** Written before the tool is started: a call of such a risk does not run without it. */
export const startEvent = ({ tenant, actor, invocation_id }: Claimed, detail: JsonObject): AuditEvent => ({
  ...{ tenant, actor, event: 'invocation.start', subject: invocation_id, detail },
});

const MAX_COMMAND = 1000;
const MAX_INPUTS = 16_384;

/** An audit is read and chained event by event: inputs that are large are with the call, under their hash. */
const bounded = <T>(inputs: T): T | string =>
  JSON.stringify(inputs).length > MAX_INPUTS ? 'too large for the audit; input_hash names them' : inputs;
