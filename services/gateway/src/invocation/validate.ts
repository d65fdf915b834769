import type { Principal, Validation } from '@capstan/contracts';
import type { NewInvocation } from '@capstan/store/invocation';
import { foreseeDenial } from '@capstan/store/quota';
import type { GatewayContext } from '../gateway-context.js';
import { quotasThat } from '../quota/quotas-that.js';
import { admitSent, denial } from './submit.js';

/** Runs all checks of a submission up to the commit. Nothing is recorded, and no quota is used. */
export async function validate(gateway: GatewayContext, principal: Principal, sent: unknown): Promise<Validation> {
  const row = admitSent(gateway, principal, sent, null);
  const decision = (await deniedByQuota(gateway, row)) ?? row.decision;
  const status = decision.effect === 'deny' ? 'denied' : row.status;
  const prepared = gateway.catalog.get(row.tool_id)?.prepare(row.inputs) ?? { inputs: row.inputs, warnings: [] };
  return {
    tool_id: row.tool_id,
    status,
    ...prepared,
    input_hash: row.input_hash,
    descriptor_hash: row.descriptor_hash,
    decision,
    suggestion: status === 'denied' ? denial(gateway, { ...row, decision }).suggestion : null,
  };
}

/** Held and denied calls do not use quotas yet. */
async function deniedByQuota({ store, rules }: GatewayContext, row: NewInvocation) {
  const quotas = row.status === 'queued' || row.status === 'deferred' ? quotasThat('deny', rules, [row]) : [];
  return quotas.length === 0 ? null : foreseeDenial(store.db, quotas, row.cost_units ?? 0, row.decision);
}
