import {
  type BulkAnswer,
  type BulkItem,
  Failure,
  holdIdOf,
  type Invocation,
  type Principal,
  toProblem,
} from '@capstan/contracts';
import type { NewInvocation } from '@capstan/store/invocation';
import { nanoid } from 'nanoid';
import type { GatewayContext } from '../gateway-context.js';
import { admitSent, countSubmitted, denial } from './submit.js';

/** Accepts the valid items and lists the others. All accepted items are committed at once, as one run. */
export async function submitBulk(gateway: GatewayContext, principal: Principal, sent: unknown[]): Promise<BulkAnswer> {
  const run_id = `run_${nanoid()}`;
  const items: BulkItem[] = [];
  const rows: { index: number; row: NewInvocation }[] = [];
  // A bulk is a run, and policy may limit how often a run calls a tool.
  const calls = new Map<string, number>();
  sent.forEach((one, index) => {
    try {
      const row = admitSent(gateway, principal, one, run_id, (tool_id) => ({ calls_of_tool: calls.get(tool_id) }));
      if (row.status !== 'denied') calls.set(row.tool_id, (calls.get(row.tool_id) ?? 0) + 1);
      rows.push({ index, row });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      items[index] = { index, status: 'invalid', problem: toProblem(error) };
    }
  });

  const { tenant, actor } = principal;
  const admitted = rows.map(({ row }) => row);
  const committed = await gateway.committer.many(admitted, { run_id, tenant, actor });
  rows.forEach(({ index, row }, at) => {
    const outcome = committed[at];
    if (outcome?.kind === 'known') items[index] = knownItem(index, row, outcome.invocation);
    else {
      countSubmitted(gateway, row);
      items[index] = newItem(gateway, index, row);
    }
  });
  const count = (...statuses: string[]) => items.filter((item) => statuses.includes(item.status)).length;
  const [held, denied, invalid] = [count('held'), count('denied'), count('invalid')];
  return { run_id, accepted: items.length - held - denied - invalid, held, denied, invalid, items };
}

const newItem = (gateway: GatewayContext, index: number, row: NewInvocation): BulkItem => ({
  index,
  invocation_id: row.invocation_id,
  ...(row.status === 'held' ? { hold_id: holdIdOf(row.invocation_id) } : {}),
  status: row.status,
  ...(row.status === 'denied' ? { problem: toProblem(denial(gateway, row)) } : {}),
});

function knownItem(index: number, row: NewInvocation, known: Invocation): BulkItem {
  const { invocation_id, hold_id, status } = known;
  if (known.tool_id === row.tool_id && known.input_hash === row.input_hash)
    return { index, invocation_id, ...(hold_id === null ? {} : { hold_id }), status };
  const failure = new Failure('IDEMPOTENCY_CONFLICT', { detail: 'This idempotency_key was used for another call.' });
  return { index, invocation_id, status: 'invalid', problem: toProblem(failure) };
}
