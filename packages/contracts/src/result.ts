import { z } from 'zod';
import { SideEffect } from './descriptor.js';
import { Hash } from './hash.js';
import type { Json } from './json.js';

export const Result = z.object({
  success: z.boolean(),
  payload: z.custom<Json>(() => true),
  error: z.string().nullable(),
  code: z.int().nullable(),
  declared_side_effects: z.array(SideEffect),
  artifacts: z.array(z.unknown()),
  duration_ms: z.number(),
  exit_code: z.int().nullable(),
  truncated: z.boolean(),
  input_hash: Hash,
  output_hash: Hash,
  chain_hash: Hash.nullable(),
});
export type Result = z.infer<typeof Result>;
