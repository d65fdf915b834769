import { setImmediate } from 'node:timers/promises';
import type { ChangedDecision, Decision, WhatIfAnswer, WhatIfLine } from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import { countDecisions, type DecisionRange, type RecordedDecision, readDecisions } from '@capstan/store/policy';
import type { GatewayContext } from '../gateway-context.js';
import { INTERNAL_POLICY_HASH } from '../mcp-sources/internal-policy.js';

/**
 * Applies a draft to the recorded decisions and yields the first `limit` that would change. It works in batches, in constant memory,
 * and serves other requests in between. How often a run had called a tool is not on record, so each call is judged on its own.
 */
export async function* whatIf(
  { store, catalog }: Pick<GatewayContext, 'store' | 'catalog'>,
  draft: CompiledPolicy,
  { limit, ...given }: DecisionRange & { limit: number },
  signal: AbortSignal,
): AsyncGenerator<WhatIfLine> {
  // Calls of the installation itself are decided by its internal policy, never by a tenant's.
  const range = { ...given, except_policy: INTERNAL_POLICY_HASH };
  const with_inputs = catalog
    .list()
    .filter(({ descriptor }) => draft.readsInputs(descriptor))
    .map(({ descriptor }) => descriptor.tool_id);
  const counts = { total: await countDecisions(store, range), checked: 0, changed: 0, unknown_tools: 0 };
  const changes: Record<string, number> = {};
  for await (const batch of readDecisions(store, range, { with_inputs })) {
    for (const recorded of batch) {
      counts.checked += 1;
      const entry = catalog.get(recorded.tool_id);
      if (!entry) {
        counts.unknown_tools += 1;
        continue;
      }
      const { descriptor } = entry;
      const inputs = recorded.inputs ? entry.prepare(recorded.inputs).inputs : {};
      const decision = draft.decide(toRequest(recorded, descriptor, inputs, range.tenant));
      if (decision.effect === recorded.effect) continue;
      counts.changed += 1;
      const change = `${recorded.effect} → ${decision.effect}`;
      changes[change] = (changes[change] ?? 0) + 1;
      if (counts.changed <= limit) yield { kind: 'changed', ...toChanged(recorded, decision) };
    }
    yield { kind: 'progress', checked: counts.checked, total: counts.total, changed: counts.changed };
    if (signal.aborted) return;
    await setImmediate();
  }
  yield { kind: 'done', ...counts, total: Math.max(counts.total, counts.checked), changes };
}

type Request = Parameters<CompiledPolicy['decide']>[0];

const toRequest = (
  recorded: RecordedDecision,
  descriptor: Request['descriptor'],
  inputs: Request['inputs'],
  tenant: string,
): Request => ({
  descriptor,
  inputs,
  mode: recorded.mode,
  timeout_ms: recorded.timeout_ms,
  actor: { name: recorded.actor, roles: recorded.roles, tenant },
  labels: recorded.labels,
  session_id: recorded.session_id,
  spec_frozen: recorded.spec_frozen,
  spec_hash: recorded.spec_hash,
});

const toChanged = (recorded: RecordedDecision, would_be: Decision): ChangedDecision => ({
  invocation_id: recorded.invocation_id,
  tool_id: recorded.tool_id,
  actor: recorded.actor,
  created_at: recorded.created_at,
  was: verdictOf(recorded),
  would_be: verdictOf(would_be),
});

const verdictOf = ({ effect, reason, rule_matched, code }: ChangedDecision['was']): ChangedDecision['was'] => ({
  effect,
  reason,
  rule_matched,
  code,
});

/** Collects the lines into one answer: the counts, and the first changed decisions. */
export async function collectWhatIf(lines: AsyncIterable<WhatIfLine>): Promise<WhatIfAnswer> {
  const items: ChangedDecision[] = [];
  let answer: WhatIfAnswer = { total: 0, checked: 0, changed: 0, changes: {}, unknown_tools: 0, items, more: 0 };
  for await (const line of lines) {
    if (line.kind === 'changed') {
      const { kind: _, ...changed } = line;
      items.push(changed);
    } else if (line.kind === 'done') {
      const { kind: _, ...counts } = line;
      answer = { ...counts, items, more: counts.changed - items.length };
    }
  }
  return answer;
}

export async function* toNdjson(lines: AsyncIterable<WhatIfLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}
