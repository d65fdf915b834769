import {
  DAY_MS,
  type Descriptor,
  Failure,
  type Principal,
  RECORDED_LABEL,
  RECORDED_STEP_LABEL,
  type ReplayAnswer,
  type Run,
} from '@capstan/contracts';
import type { NewInvocation } from '@capstan/store/invocation';
import { linkReplay, type ReadEntry, readRecord } from '@capstan/store/record';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { admitSent, countSubmitted } from '../invocation/submit.js';
import { ofStep } from '../report/build-report.js';

const HOLD_MS = DAY_MS;
/** The same limit as for bulk submissions. */
const MAX_CALLS = 10_000;

/**
 * Submits the calls of a run again, with their recorded inputs, as one new run under the current policy. Calls of tools that change
 * nothing run; each of the others is held for a person. Calls that were denied, and calls whose tool no longer exists, are left out.
 */
export async function reExecute(gateway: GatewayContext, principal: Principal, of: Run): Promise<ReplayAnswer> {
  if (of.total_steps > MAX_CALLS)
    throw new Failure('INVALID_REQUEST', { detail: `At most ${MAX_CALLS} calls are executed again at once.` });
  const run_id = `run_${nanoid()}`;
  const rows: NewInvocation[] = [];
  /** In the record, the steps of a plan come before their invocations. */
  const step_ids = new Map<string, string>();
  for await (const entries of readRecord(gateway.store, of))
    for (const entry of entries) {
      const step = entry.kind === 'step' ? ofStep(of.run_id, entry) : null;
      if (step?.invocation_id) step_ids.set(step.invocation_id, step.step_id);
      const row = again(gateway, principal, run_id, entry, step_ids.get(entry.id));
      if (row) rows.push(row);
    }
  if (rows.length === 0) throw new Failure('ILLEGAL_STATE', { detail: `${of.run_id} has no calls to execute again.` });
  const { tenant, actor } = principal;
  await gateway.committer.many(rows, { run_id, tenant, actor });
  for (const row of rows) countSubmitted(gateway, row);
  await linkReplay(gateway.store, principal, run_id, of.run_id);
  return { run_id, mode: 'execution', replay_of: of.run_id, plan_hash: of.plan_hash, total_steps: rows.length };
}

function again(
  gateway: GatewayContext,
  principal: Principal,
  run_id: string,
  { kind, id, tables }: ReadEntry,
  step_id: string | undefined,
): NewInvocation | null {
  const [recorded] = tables.invocations ?? [];
  if (kind !== 'invocation' || !recorded || recorded.status === 'denied') return null;
  const { tool_id, inputs, session_id, timeout_ms, labels } = recorded;
  const entry = gateway.catalog.get(String(tool_id));
  if (!entry) return null;
  const row = admitSent(
    gateway,
    principal,
    {
      ...{ tool_id, inputs, timeout_ms, ...(session_id === null ? {} : { session_id }) },
      labels: {
        ...(typeof labels === 'object' ? labels : {}),
        [RECORDED_LABEL]: id,
        ...(step_id === undefined ? {} : { [RECORDED_STEP_LABEL]: step_id }),
      },
    },
    run_id,
  );
  if (row.status !== 'queued' || changesNothing(entry.descriptor)) return row;
  const reason = 'it is executed again, and its tool may change something, so it needs approval';
  return {
    ...row,
    status: 'held',
    decision: { ...row.decision, effect: 'hold', allowed: false, reason, approvals: { required: 1 } },
    expires_in_ms: HOLD_MS,
  };
}

const READS = /(^|[._:])read$/;
/** Idempotent, not destructive, and with no side effects except reading. */
const changesNothing = ({ effects, side_effects }: Descriptor): boolean =>
  effects.idempotent && !effects.destructive && side_effects.every((effect) => READS.test(effect));
