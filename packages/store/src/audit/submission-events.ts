import type { JsonObject } from '@capstan/contracts';
import type { NewInvocation } from '../invocation/insert-invocations.js';

export type SubmissionEvent = {
  tenant: string;
  actor: string;
  event: 'invocation.submit' | 'invocation.hold' | 'invocation.deny';
  subject: string;
  detail: JsonObject;
  /** Write the event only if this invocation is inserted: its idempotency key may exist already. */
  only_with?: string;
};

/** The most calls in one event, because the audit is read and chained event by event. */
const MAX_CALLS = 500;

/**
 * The audit events of a batch of submissions. Allowed calls share one event for each actor, with the hash of each call's inputs;
 * held and denied calls have one event each, with the reason.
 */
export function submissionEvents(rows: readonly NewInvocation[]): SubmissionEvent[] {
  const events: SubmissionEvent[] = [];
  const open = new Map<string, { calls: Record<string, Record<string, string>>; count: number }>();
  for (const row of rows) {
    if (row.status === 'held' || row.status === 'denied') events.push(toldAlone(row));
    else if (row.idempotency_key !== null)
      events.push({
        ...submitted(row, { [row.tool_id]: { [row.invocation_id]: row.input_hash } }),
        only_with: row.invocation_id,
      });
    else {
      const key = `${row.tenant} ${row.actor} ${row.run_id}`;
      let group = open.get(key);
      if (!group || group.count === MAX_CALLS) {
        group = { calls: {}, count: 0 };
        open.set(key, group);
        events.push(submitted(row, group.calls));
      }
      group.count += 1;
      const of_tool = group.calls[row.tool_id] ?? {};
      group.calls[row.tool_id] = of_tool;
      of_tool[row.invocation_id] = row.input_hash;
    }
  }
  return events;
}

const submitted = ({ tenant, actor, run_id, invocation_id }: NewInvocation, calls: JsonObject): SubmissionEvent => ({
  ...{ tenant, actor, event: 'invocation.submit', subject: run_id ?? invocation_id, detail: { calls } },
});

function toldAlone(row: NewInvocation): SubmissionEvent {
  const { tenant, actor, invocation_id, run_id, tool_id, input_hash, policy_hash, decision, status } = row;
  const { reason, rule_matched, code } = decision;
  return {
    ...{ tenant, actor, event: status === 'held' ? 'invocation.hold' : 'invocation.deny', subject: invocation_id },
    detail: { run_id, tool_id, input_hash, policy_hash, reason, rule_matched, code },
    ...(row.idempotency_key === null ? {} : { only_with: invocation_id }),
  };
}
