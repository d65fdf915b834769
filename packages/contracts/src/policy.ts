import { z } from 'zod';
import { Risk } from './descriptor.js';
import { Mode } from './invocation.js';
import { RunnerType } from './runner-type.js';

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);

export const PolicyMatch = z.strictObject({
  tool: oneOrMany(z.string().min(1)).optional(),
  runner: oneOrMany(RunnerType).optional(),
  risk_max: Risk.optional(),
  mode: oneOrMany(Mode).optional(),
});
export type PolicyMatch = z.infer<typeof PolicyMatch>;

export const PolicyRule = z.strictObject({
  id: z.string().min(1).max(128),
  effect: z.enum(['allow', 'hold', 'forbid']),
  match: PolicyMatch,
  reason: z.string().max(1024).optional(),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

export const PolicyLimit = z.strictObject({
  match: PolicyMatch.default({}),
  timeout_ms: z.int().positive().optional(),
  max_output_bytes: z.int().positive().optional(),
});

/** Strict: an unknown key is an error, so that a misspelt restriction is never silently absent. */
export const PolicyDocument = z.strictObject({
  version: z.literal('1.0').default('1.0'),
  boundary: z.literal('deny_by_default'),
  rules: z.array(PolicyRule).default([]),
  limits: z.array(PolicyLimit).default([]),
});
export type PolicyDocument = z.infer<typeof PolicyDocument>;

export const Policy = z.object({
  name: z.string(),
  version: z.int(),
  policy_hash: z.string(),
  document: PolicyDocument,
  created_at: z.iso.datetime(),
});
export type Policy = z.infer<typeof Policy>;
