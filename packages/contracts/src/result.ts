import { z } from 'zod';
import { SideEffect } from './descriptor.js';
import { Hash } from './hash.js';
import type { Json } from './json.js';

/** Content that a call produced, identified by its hash. `GET /v1/artifacts/{sha256}` returns it. */
export const Artifact = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string(),
  media_type: z.string(),
  size: z.int().nonnegative(),
});
export type Artifact = z.infer<typeof Artifact>;

/** The observed behavior of a call, for comparison with the declared effects of its tool. */
export const Observed = z.object({
  files_read: z.array(z.string()).optional(),
  files_written: z.array(z.string()).optional(),
  domains: z.array(z.string()).optional(),
  processes: z.int().optional(),
});
export type Observed = z.infer<typeof Observed>;

/** How a process is contained, strongest first. */
export const SandboxLevel = z.enum(['bubblewrap', 'namespaces', 'process']);
export type SandboxLevel = z.infer<typeof SandboxLevel>;

/**
 * Protections in addition to the level: a system call filter, Landlock rules for files, a user id of the tenant's own, and that the
 * program cannot start another one.
 */
export const SandboxFeature = z.enum(['seccomp', 'landlock', 'uid', 'exec_once']);
export type SandboxFeature = z.infer<typeof SandboxFeature>;

/** The level, then each feature: `bubblewrap+seccomp+uid`. */
const SandboxFact = z
  .string()
  .regex(new RegExp(`^(${SandboxLevel.options.join('|')})(\\+(${SandboxFeature.options.join('|')}))*$`));

/** Facts about a call besides its output. */
export const RunFacts = z.object({
  observed: Observed.optional(),
  /** The containment: its level and features. */
  sandbox: SandboxFact.optional(),
  cost_units: z.number().nonnegative().optional(),
  /** Whatever the runner counts: tokens, pages, rows. */
  usage: z.record(z.string(), z.number()).optional(),
});
export type RunFacts = z.infer<typeof RunFacts>;

export const Result = z.object({
  success: z.boolean(),
  payload: z.custom<Json>(() => true),
  error: z.string().nullable(),
  code: z.int().nullable(),
  declared_side_effects: z.array(SideEffect),
  artifacts: z.array(Artifact),
  facts: RunFacts.nullable(),
  duration_ms: z.number(),
  exit_code: z.int().nullable(),
  truncated: z.boolean(),
  input_hash: Hash,
  output_hash: Hash,
  chain_hash: Hash.nullable().describe(
    'The hash of its leaf in the log; null until it is there, a moment after the end',
  ),
  removed_at: z.iso.datetime().nullish().describe('When retention removed the payload and the artifacts'),
});
export type Result = z.infer<typeof Result>;
