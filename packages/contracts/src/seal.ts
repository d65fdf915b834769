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

/** What a run's chain of records ends in. */
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

export const Verification = z.object({
  ok: z.boolean(),
  run_id: z.string(),
  checked: z.int().describe('Records'),
  mismatches: z.array(Mismatch),
  more: z.int().describe('Mismatches beyond those listed'),
  removed: z.array(Removal).describe('What retention removed; no mismatch'),
  removed_more: z.int().describe('Removals beyond those listed'),
  seal: Seal.nullable(),
  voided: z.array(VoidedSeal).describe('Earlier seals, and what ended each'),
});
export type Verification = z.infer<typeof Verification>;

/** The lines of a verification that is streamed. */
export type VerifyLine =
  | { kind: 'progress'; checked: number; total: number; mismatches: number }
  | ({ kind: 'done' } & Verification);
