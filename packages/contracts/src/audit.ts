import { z } from 'zod';
import { Hash } from './hash.js';
import { JsonObject } from './json.js';
import { RunnerType } from './runner-type.js';
import { Mismatch } from './seal.js';
import { InvocationStatus } from './status.js';

/** A call that an event is about, as its record has it. */
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
  chain_hash: Hash.nullable().describe('Null until it is chained, a moment later'),
  executions: z
    .array(AuditedExecution)
    .optional()
    .describe('Of invocation.end: what was executed, read from the record of the calls and no part of the chain'),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditFilter = z.strictObject({
  event: z.string().optional().describe('As it is, or with a * at its end'),
  subject: z.string().optional(),
  actor: z.string().optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
export type AuditFilter = z.infer<typeof AuditFilter>;

export const AuditVerification = z.object({
  ok: z.boolean(),
  checked: z.int(),
  unchained: z.int().describe('Too new to have a link'),
  head: Hash.nullable(),
  mismatches: z.array(Mismatch),
});
export type AuditVerification = z.infer<typeof AuditVerification>;
