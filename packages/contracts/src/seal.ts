import { z } from 'zod';
import { Hash } from './hash.js';

/** Where what is stored is not what it should be. */
export const Mismatch = z.object({
  table: z.string(),
  row: z.string().describe('The id of the row'),
  field: z.string().describe('row: it is missing, or was added'),
  stored: z.unknown(),
  computed: z.unknown(),
  why: z.string(),
});
export type Mismatch = z.infer<typeof Mismatch>;

/** What retention removed. Its hash is part of the record, and verified with it. */
export const Removal = z.object({
  table: z.literal('results'),
  row: z.string().describe('The id of the call'),
  field: z.literal('payload'),
  removed_at: z.iso.datetime(),
});
export type Removal = z.infer<typeof Removal>;

/** Of a run that ended before there was a log: what its chain of records ends in. */
export const Seal = z.object({
  run_id: z.string(),
  generation: z.int().describe('Counts up each time the run is sealed again'),
  tenant: z.string(),
  root: Hash,
  count: z.int().describe('Of records: the run, its steps, its invocations'),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  plan_hash: Hash.nullable(),
  policy_hash: Hash.nullable(),
  sealed_at: z.iso.datetime(),
  seal_hash: Hash.describe('Of all the above; this is what is signed'),
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

/** The log as it was signed: which one, how many entries, and the root over them. */
export const LogCheckpoint = z.object({
  origin: z.string(),
  size: z.int(),
  root: Hash,
  note: z.string().describe('As it is signed (C2SP tlog-checkpoint)'),
  key: z.string().nullable().describe('The verifier key of its signature; null: nobody signed it'),
});
export type LogCheckpoint = z.infer<typeof LogCheckpoint>;

/** An entry that a newer one came after. Both are in the log for good. */
export const SupersededEntry = z.object({
  id: z.string().describe('Of the call, or of the run'),
  log_index: z.int(),
  leaf_hash: Hash,
  superseded_at: z.iso.datetime(),
  reason: z.string(),
});
export type SupersededEntry = z.infer<typeof SupersededEntry>;

/** That a record is in the log. */
export const LogProof = z.object({
  id: z.string(),
  log_index: z.int(),
  record_hash: Hash.describe('What the leaf is the hash of'),
  leaf_hash: Hash,
  proof: z.array(z.string()).describe('From the leaf to the root: hashes in base64 (RFC 6962, 2.1.1)'),
  checkpoint: LogCheckpoint,
});
export type LogProof = z.infer<typeof LogProof>;

/** That a later log begins with an earlier one. */
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
  removed: z.array(Removal).describe('What retention removed; no mismatch'),
  removed_more: z.int().describe('Removals beyond those listed'),
  checkpoint: LogCheckpoint.nullable().describe('What every record was proven against; null where there is a seal'),
  superseded: z.array(SupersededEntry).describe('Earlier entries of its records'),
  seal: Seal.nullable().describe('Of a run that ended before there was a log'),
  voided: z.array(VoidedSeal).describe('Earlier seals, and what ended each'),
});
export type Verification = z.infer<typeof Verification>;

/** The lines of a verification that is streamed. */
export type VerifyLine =
  | { kind: 'progress'; checked: number; total: number; mismatches: number }
  | ({ kind: 'done' } & Verification);
