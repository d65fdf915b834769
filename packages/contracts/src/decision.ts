import { z } from 'zod';
import { Hash } from './hash.js';

export const Limits = z.object({
  timeout_ms: z.int().positive(),
  max_output_bytes: z.int().positive(),
});
export type Limits = z.infer<typeof Limits>;

/** What policy says of one call, and why. */
export const Decision = z.object({
  effect: z.enum(['allow', 'hold', 'deny']),
  allowed: z.boolean(),
  reason: z.string(),
  rule_matched: z.string().nullable(),
  code: z.string().nullable(),
  limits: Limits,
  policy_hash: Hash,
});
export type Decision = z.infer<typeof Decision>;
