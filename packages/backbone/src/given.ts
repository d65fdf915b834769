import { isQueueName, type JsonObject, type QueueName } from '@capstan/contracts';
import type { Claimed, NewInvocation } from '@capstan/store';
import { z } from 'zod';

/** The address of calls that are handed to a worker. */
export const givenTo = (worker_id: string): string => `given:${worker_id}`;

/** A call as it travels with its receipt: what it shares with the others of the receipt, and what it has of its own. */
export type GivenCall = { common: string; call: string };

type Common = Omit<
  Claimed,
  'claim_id' | 'invocation_id' | 'inputs' | 'input_hash' | 'traceparent' | 'attempt' | 'first_attempt'
>;
type Own = [invocation_id: string, inputs: JsonObject, input_hash: string, traceparent?: string];

/** Written out: spreading costs more than all else here. */
export function toGiven(row: NewInvocation): GivenCall {
  const common: Common = {
    tenant: row.tenant,
    actor: row.actor,
    roles: row.roles,
    run_id: row.run_id,
    tool_id: row.tool_id,
    runner: row.runner,
    descriptor_hash: row.descriptor_hash,
    policy_hash: row.policy_hash,
    mode: row.mode,
    labels: row.labels,
    spec_frozen: row.spec_frozen,
    spec_hash: row.spec_hash,
    session_id: row.session_id,
    idempotent: row.idempotent,
    priority: row.priority,
    timeout_ms: row.timeout_ms,
    max_attempts: row.max_attempts,
    retry_backoff_ms: row.retry_backoff_ms ?? null,
    watched: row.watched === true || row.webhook_url !== null,
    followed: row.watched === true || row.webhook_url !== null,
  };
  const own: Own = [row.invocation_id, row.inputs, row.input_hash];
  if (row.traceparent !== undefined) own.push(row.traceparent);
  return { common: JSON.stringify(common), call: JSON.stringify(own) };
}

/** A message to a worker: a receipt with its calls, or without them where the worker has to own it or look them up. */
const Given = z.object({
  claim_id: z.string(),
  runner: z.custom<QueueName>(isQueueName),
  owned: z.boolean(),
  common: z.custom<Common>((value) => typeof value === 'object' && value !== null).optional(),
  calls: z.array(z.custom<Own>((value) => Array.isArray(value) && value.length >= 3)).optional(),
});
export type GivenReceipt = { claim_id: string; runner: QueueName; owned: boolean; calls: Claimed[] | null };

export function readGiven(contents: string): GivenReceipt {
  const { claim_id, runner, owned, common, calls } = Given.parse(JSON.parse(contents));
  return {
    claim_id,
    runner,
    owned,
    calls: common && calls ? calls.map((own) => toClaimed(claim_id, common, own)) : null,
  };
}

const toClaimed = (
  claim_id: string,
  common: Common,
  [invocation_id, inputs, input_hash, traceparent]: Own,
): Claimed => ({
  claim_id,
  invocation_id,
  attempt: 1,
  first_attempt: 1,
  tenant: common.tenant,
  actor: common.actor,
  roles: common.roles,
  run_id: common.run_id,
  tool_id: common.tool_id,
  runner: common.runner,
  inputs,
  input_hash,
  descriptor_hash: common.descriptor_hash,
  policy_hash: common.policy_hash,
  mode: common.mode,
  labels: common.labels,
  spec_frozen: common.spec_frozen,
  spec_hash: common.spec_hash,
  session_id: common.session_id,
  idempotent: common.idempotent,
  priority: common.priority,
  timeout_ms: common.timeout_ms,
  max_attempts: common.max_attempts,
  retry_backoff_ms: common.retry_backoff_ms ?? null,
  watched: common.watched,
  followed: common.followed,
  traceparent: traceparent ?? null,
});
