import { z } from 'zod';
import { Hash } from './hash.js';

/**
 * What an allowed run gets at most. Members that are absent are not limited beyond the runner's own defaults, which are
 * the safe ones: no network for processes, no private addresses, no shell, no writes to databases.
 */
export const Limits = z.object({
  timeout_ms: z.int().positive(),
  max_output_bytes: z.int().positive(),
  /** Where connections may go. Domains are exact names or `*.name`. */
  network: z.union([z.literal('none'), z.array(z.string())]).optional(),
  deny_domains: z.array(z.string()).optional(),
  /** True unless policy says otherwise in as many words. */
  deny_private_ips: z.boolean().optional(),
  max_response_bytes: z.int().positive().optional(),
  /** Variables of the worker's environment that a process may see, beside the allowlist. */
  env: z.array(z.string()).optional(),
  sandbox: z.enum(['required', 'preferred']).optional(),
  /** Globs, relative to the workspace. */
  allow_paths: z.array(z.string()).optional(),
  deny_paths: z.array(z.string()).optional(),
  allow_hidden: z.boolean().optional(),
  max_size_bytes: z.int().positive().optional(),
  /** Whether a program that is a shell, or takes a command line, may run. */
  shell: z.boolean().optional(),
  /** Whether a database may be written to. */
  write: z.boolean().optional(),
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
