import { z } from 'zod';
import { Hash } from './hash.js';
import { JsonObject } from './json.js';
import { Mismatch } from './seal.js';

export const AuditEntry = z.object({
  seq: z.string(),
  at: z.iso.datetime(),
  tenant: z.string(),
  actor: z.string(),
  event: z.string(),
  subject: z.string(),
  detail: JsonObject,
  chain_hash: Hash.nullable().describe('Null until it is chained, a moment later'),
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
