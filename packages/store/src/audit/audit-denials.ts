import type { InvocationStatus } from '@capstan/contracts';
import type { Query, Statement } from '../open-store.js';

const AUDIT: Statement = {
  name: 'audit-denials',
  text: `
    INSERT INTO audit (tenant, actor, event, subject, detail)
    SELECT i.tenant, i.actor, 'invocation.deny', i.invocation_id, json_build_object('run_id', i.run_id, 'tool_id', i.tool_id,
      'input_hash', i.input_hash, 'policy_hash', i.policy_hash, 'reason', r.error, 'rule_matched', $2::json ->> i.invocation_id, 'attempt', r.attempt)
    FROM invocations i JOIN results r ON r.invocation_id = i.invocation_id
    WHERE i.invocation_id = ANY ($1)`,
};

type Settled = { invocation_id: string; status: InvocationStatus };

/** Audits calls that were admitted, but denied by policy right before or during the run. Called in the transaction that settles them. */
export async function auditDenials<T extends Settled>(
  query: Query,
  settled: T[],
  /** The rules that denied calls during their run, by invocation. */
  rules: Readonly<Record<string, string>>,
): Promise<T[]> {
  const denied = settled.filter(({ status }) => status === 'denied').map(({ invocation_id }) => invocation_id);
  if (denied.length > 0) await query(AUDIT, [denied, JSON.stringify(rules)]);
  return settled;
}
