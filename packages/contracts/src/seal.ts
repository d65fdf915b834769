import { z } from 'zod';
import { Hash } from './hash.js';

/** A stored value that differs from the expected one. */
export const Mismatch = z.object({
  table: z.string(),
  row: z.string().describe('The id of the row'),
  field: z.string().describe('row if the row is missing or was added'),
  stored: z.unknown(),
  computed: z.unknown(),
  why: z.string(),
});
export type Mismatch = z.infer<typeof Mismatch>;

/** A payload that retention removed. Its hash is part of the record and still verified. */
export const Removal = z.object({
  table: z.literal('results'),
  row: z.string().describe('The id of the call'),
  field: z.literal('payload'),
  removed_at: z.iso.datetime(),
});
export type Removal = z.infer<typeof Removal>;

/** The end of the record chain of a run that ended before the log existed. */
export const Seal = z.object({
  run_id: z.string(),
  generation: z.int().describe('Increases each time the run is sealed again'),
  tenant: z.string(),
  root: Hash,
  count: z.int().describe('The number of records: the run, its steps and its invocations'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  plan_hash: Hash.nullable(),
  policy_hash: Hash.nullable(),
  sealed_at: z.iso.datetime(),
  seal_hash: Hash.describe('The hash of all fields above, which is signed'),
  signature: z.string().nullable().describe('Ed25519, base64'),
  key_id: z.string().nullable(),
  public_key: z.string().nullable().describe('SPKI, base64'),
});
export type Seal = z.infer<typeof Seal>;

export const VoidedSeal = Seal.pick({ generation: true, root: true, sealed_at: true }).extend({
  voided_at: z.iso.datetime(),
  void_reason: z.string().nullable(),
});
export type VoidedSeal = z.infer<typeof VoidedSeal>;

/** A signed state of the log: its origin, size and root. */
export const LogCheckpoint = z.object({
  origin: z.string(),
  size: z.int(),
  root: Hash,
  note: z.string().describe('The signed text (C2SP tlog-checkpoint)'),
  key: z.string().nullable().describe('The verifier key of the signature; null if it is not signed'),
});
export type LogCheckpoint = z.infer<typeof LogCheckpoint>;

/** An entry that a newer one replaced. Both stay in the log. */
export const SupersededEntry = z.object({
  id: z.string().describe('The id of the call or run'),
  log_index: z.int(),
  leaf_hash: Hash,
  superseded_at: z.iso.datetime(),
  reason: z.string(),
});
export type SupersededEntry = z.infer<typeof SupersededEntry>;

/** A proof that a record is in the log. */
export const LogProof = z.object({
  id: z.string(),
  log_index: z.int(),
  record_hash: Hash.describe('The hash that the leaf is computed from'),
  leaf_hash: Hash,
  proof: z.array(z.string()).describe('From the leaf to the root: hashes in base64 (RFC 6962, 2.1.1)'),
  checkpoint: LogCheckpoint,
});
export type LogProof = z.infer<typeof LogProof>;

/** A proof that a later state of the log begins with an earlier one. */
export const ConsistencyProof = z.object({
  from: z.int(),
  to: z.int(),
  proof: z.array(z.string()).describe('Hashes in base64 (RFC 6962, 2.1.2)'),
});
export type ConsistencyProof = z.infer<typeof ConsistencyProof>;

export const Verification = z.object({
  ok: z.boolean(),
  run_id: z.string(),
  checked: z.int().describe('Records'),
  mismatches: z.array(Mismatch),
  more: z.int().describe('Mismatches beyond those listed'),
  removed: z.array(Removal).describe('Removed by retention; not a mismatch'),
  removed_more: z.int().describe('Removals beyond those listed'),
  checkpoint: LogCheckpoint.nullable().describe(
    'The checkpoint that every record was proven against; null for a sealed run',
  ),
  superseded: z.array(SupersededEntry).describe('Earlier entries of its records'),
  seal: Seal.nullable().describe('For a run that ended before the log existed'),
  voided: z.array(VoidedSeal).describe('Earlier seals, and why each became void'),
});
export type Verification = z.infer<typeof Verification>;

/** The lines of a streamed verification. */
export type VerifyLine =
  | { kind: 'progress'; checked: number; total: number; mismatches: number }
  | ({ kind: 'done' } & Verification);
