import { isQueueName, JsonObject, type QueueName, Role } from '@capstan/contracts';
import type { Claimed } from '@capstan/store/claim';
import type { NewInvocation } from '@capstan/store/invocation';
import { z } from 'zod';

/** The address of calls that are handed to a worker. */
export const givenTo = (worker_id: string): string => `given:${worker_id}`;

const Queue = z.custom<QueueName>(isQueueName);

/** What all calls of a receipt share. */
const Common = z.object({
  tenant: z.string(),
  actor: z.string(),
  roles: z.array(Role),
  run_id: z.string().nullable(),
  tool_id: z.string(),
  runner: Queue,
  descriptor_hash: z.string(),
  policy_hash: z.string(),
  mode: z.enum(['execution', 'planning']),
  labels: z.record(z.string(), z.string()),
  spec_frozen: z.boolean().nullable(),
  spec_hash: z.string().nullable(),
  session_id: z.string().nullable(),
  idempotent: z.boolean(),
  priority: z.number(),
  timeout_ms: z.number(),
  max_attempts: z.number(),
  retry_backoff_ms: z.number().nullish(),
  watched: z.boolean(),
  followed: z.boolean(),
});
type Common = z.infer<typeof Common>;

/** What differs between them: id, inputs, hash of the inputs, and the trace if there is one. */
const Own = z.tuple([z.string(), JsonObject, z.string(), z.string().optional()]).rest(z.unknown());
type Own = z.infer<typeof Own>;

/** Written field by field, because spreading is by far the most expensive way. */
export function commonText(row: NewInvocation): string {
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
  return JSON.stringify(common);
}

export function ownText(row: NewInvocation): string {
  const own: Own = [row.invocation_id, row.inputs, row.input_hash];
  if (row.traceparent !== undefined) own.push(row.traceparent);
  return JSON.stringify(own);
}

/** A message to a worker: a receipt with its calls. Without them if the worker has to own the receipt first, or has to load the calls. */
const Given = z.object({
  claim_id: z.string(),
  runner: Queue,
  owned: z.boolean(),
  common: Common.optional(),
  calls: z.array(Own).optional(),
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
