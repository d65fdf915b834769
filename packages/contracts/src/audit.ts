import { z } from 'zod';
import { Hash } from './hash.js';
import { JsonObject } from './json.js';
import { RunnerType } from './runner-type.js';
import { Mismatch } from './seal.js';
import { InvocationStatus } from './status.js';

/** The call that an event is about, from its record. */
export const AuditedExecution = z.object({
  invocation_id: z.string(),
  tool_id: z.string(),
  runner: RunnerType,
  action: z.string(),
  command: z.string().nullable(),
  session_id: z.string().nullable(),
  status: InvocationStatus,
  started_at: z.iso.datetime().nullable(),
  duration_ms: z.number().nullable(),
  exit_code: z.int().nullable(),
  error: z.string().nullable(),
});
export type AuditedExecution = z.infer<typeof AuditedExecution>;

export const AuditEntry = z.object({
  seq: z.string(),
  at: z.iso.datetime(),
  tenant: z.string(),
  actor: z.string(),
  event: z.string(),
  subject: z.string(),
  detail: JsonObject,
  chain_hash: Hash.nullable().describe('Null until the event is chained, moments later'),
  executions: z
    .array(AuditedExecution)
    .optional()
    .describe('For invocation.end: what was executed, read from the record of the call and not part of the chain'),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.strictObject({
  event: z.string().optional().describe('An exact name, or a prefix followed by *'),
  subject: z.string().optional(),
  actor: z.string().optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
export type AuditFilter = z.infer<typeof AuditFilter>;

export const AuditVerification = z.object({
  ok: z.boolean(),
  checked: z.int(),
  unchained: z.int().describe('Events that are not chained yet'),
  head: Hash.nullable(),
  mismatches: z.array(Mismatch),
});
export type AuditVerification = z.infer<typeof AuditVerification>;
