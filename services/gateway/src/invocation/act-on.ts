import { tellReady } from '@capstan/backbone';
import {
  Failure,
  holdIdOf,
  type InvocationDetail,
  type InvocationFilter,
  isTerminal,
  type Principal,
  type Resolution,
} from '@capstan/contracts';
import { publishEnded } from '@capstan/queue';
import { asOfOneMoment } from '@capstan/store';
import { getHold } from '@capstan/store/hold';
import {
  cancelInvocations,
  getInvocation,
  listAttempts,
  redriveInvocations,
  resolveInvocation,
} from '@capstan/store/invocation';
import { quotasAwaited } from '@capstan/store/quota';
import type { GatewayContext } from '../gateway-context.js';
import { redactComment } from '../hold/redact-comment.js';
import { summarize } from '../hold/summarize-hold.js';
import { whyWaiting } from './why-waiting.js';

type Which = InvocationFilter & { invocation_id?: string };

export async function readDetail(
  gateway: GatewayContext,
  principal: Principal,
  invocation_id: string,
): Promise<InvocationDetail> {
  const { store } = gateway;
  const { invocation, attempts, hold } = await asOfOneMoment(store, async (db) => ({
    invocation: await getInvocation(db, principal.tenant, invocation_id),
    attempts: await listAttempts(db, invocation_id),
    hold: await getHold(db, principal.tenant, holdIdOf(invocation_id)),
  }));
  if (!invocation) throw notFound(invocation_id);
  const waits_for = invocation.status === 'deferred' ? await quotasAwaited(store.db, invocation_id) : [];
  const waiting = await whyWaiting(gateway, invocation, waits_for);
  return { ...invocation, attempts, hold: hold ? summarize(gateway, hold) : null, waits_for, waiting };
}

export const notFound = (id: string, suggestion?: string) =>
  new Failure('NOT_FOUND', { detail: `There is no ${id}.`, ...(suggestion === undefined ? {} : { suggestion }) });

/** Ends waiting calls, and tells workers to stop running ones. Returns how many calls were affected. */
export async function cancel({ store, relay }: GatewayContext, principal: Principal, which: Which): Promise<number> {
  const canceled = await cancelInvocations(store, principal, which);
  const running = canceled.filter((row) => row.status === 'running').map((row) => row.invocation_id);
  relay.publish('cancel', running);
  publishEnded(
    relay,
    canceled.filter((row) => row.status !== 'running').map((row) => row.invocation_id),
  );
  return canceled.length;
}

export async function cancelOne(
  gateway: GatewayContext,
  principal: Principal,
  invocation_id: string,
): Promise<InvocationDetail> {
  const count = await cancel(gateway, principal, { invocation_id });
  const detail = await readDetail(gateway, principal, invocation_id);
  if (count === 0 && isTerminal(detail.status) && detail.status !== 'canceled')
    throw illegal(detail, 'it has ended and cannot be canceled');
  return detail;
}

export async function redrive(gateway: GatewayContext, principal: Principal, which: Which): Promise<number> {
  const redriven = await redriveInvocations(gateway.store, principal, which);
  tellReady(gateway, redriven);
  gateway.relay.publish('due', ['now']);
  return redriven.ids.length;
}

export async function redriveOne(
  gateway: GatewayContext,
  principal: Principal,
  invocation_id: string,
): Promise<InvocationDetail> {
  const count = await redrive(gateway, principal, { invocation_id });
  const detail = await readDetail(gateway, principal, invocation_id);
  if (count === 0) throw illegal(detail, 'only failed, timed out and ambiguous ones are redriven');
  return detail;
}

export async function resolve(
  gateway: GatewayContext,
  principal: Principal,
  invocation_id: string,
  { outcome, comment }: Resolution,
): Promise<InvocationDetail> {
  const resolution = { outcome, comment: redactComment(comment) };
  const resolved = await resolveInvocation(gateway.store, principal, invocation_id, resolution);
  const detail = await readDetail(gateway, principal, invocation_id);
  if (!resolved) throw illegal(detail, 'only ambiguous ones are resolved');
  publishEnded(gateway.relay, [invocation_id]);
  return detail;
}

const illegal = (detail: InvocationDetail, why: string) =>
  new Failure('ILLEGAL_STATE', {
    detail: `${detail.invocation_id} is ${detail.status}: ${why}.`,
    context: { invocation_id: detail.invocation_id, invocation_status: detail.status },
  });
