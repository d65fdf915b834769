import { z } from 'zod';
import { Executables } from './executable-rule.js';
import { Hash } from './hash.js';
import { Role } from './key.js';

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
  /** Whether a process may run where its system calls cannot be filtered. */
  seccomp: z.enum(['required', 'preferred']).optional(),
  /** Globs, relative to the workspace. */
  allow_paths: z.array(z.string()).optional(),
  deny_paths: z.array(z.string()).optional(),
  allow_hidden: z.boolean().optional(),
  max_size_bytes: z.int().positive().optional(),
  /** Whether a program that is a shell, or takes a command line, may run. */
  shell: z.boolean().optional(),
  /** What programs that can start others may be called with. Every list that names a program has to allow it. */
  executables: z.array(Executables).optional(),
  /** Whether the kernel should, or has to, keep a program from starting another. */
  exec_once: z.enum(['required', 'preferred']).optional(),
  /** Whether a database may be written to. */
  write: z.boolean().optional(),
  output_schema: z
    .enum(['enforce', 'warn'])
    .optional()
    .describe('What an output that does not match its schema is: a failure, unless it is to be a warning in the log'),
});
export type Limits = z.infer<typeof Limits>;

/** Who has to agree before a held call runs. */
export const Approvals = z.strictObject({
  /** So many different people. */
  required: z.int().min(1).max(100).optional().describe('How many different people; 1 by default'),
  /** An approver has all of these roles. */
  roles: z.array(Role).min(1).optional().describe('Each of them has all of these roles'),
  actors: z.array(z.string().min(1)).optional().describe('Each of them is one of these'),
  allow_self: z.boolean().optional().describe('Whether who submitted it may be among them; false by default'),
  expires_in_ms: z.int().positive().optional().describe('Then the hold expires'),
  revote_on_edit: z
    .boolean()
    .optional()
    .describe('Whether changed inputs need every vote anew; else only where policy sees another call in them'),
});
export type Approvals = z.infer<typeof Approvals>;

/** A rule that was looked at. */
export const RuleLook = z.object({
  id: z.string(),
  matched: z.boolean(),
  why: z.string(),
  of: z.literal('installation').optional().describe('It is a rule of the installation’s policy'),
});
export type RuleLook = z.infer<typeof RuleLook>;

/** What policy says of one call, and why. */
export const Decision = z.object({
  effect: z.enum(['allow', 'hold', 'deny']),
  allowed: z.boolean(),
  reason: z.string(),
  /** The rule that decided, or the part of `tools`, `risk` or `effects` that did, like `deny_paths[**\/.env]`. */
  rule_matched: z.string().nullable(),
  code: z.string().nullable(),
  /** On record those that matched; `explain` lists every one. */
  rules: z.array(RuleLook).optional(),
  limits: Limits,
  /** Of a hold: of all that hold it the largest quorum, all the roles, the shortest expiry. */
  approvals: Approvals.optional(),
  decided_by: z
    .enum(['tenant', 'installation'])
    .optional()
    .describe('Whose policy decided: the installation’s, where the tenant’s own would have allowed more'),
  lowered: z.array(z.string()).optional().describe('The limits that the installation’s policy has lowered'),
  policy_hash: Hash.describe('Of the tenant’s policy together with the installation’s'),
});
export type Decision = z.infer<typeof Decision>;

/** What decided in the end, of a call that was allowed when it came and refused while it ran; null of any other. */
export function deniedAtRun(
  { status, decision }: { status: string; decision: Decision },
  { error, payload }: { error: string | null; payload: unknown },
): Decision | null {
  const isRefusal = status === 'denied' && typeof payload === 'object' && payload !== null && 'rule_matched' in payload;
  if (!isRefusal || decision.effect === 'deny') return null;
  const { approvals: _, ...rest } = decision;
  const rule_matched = typeof payload.rule_matched === 'string' ? payload.rule_matched : null;
  return {
    ...rest,
    effect: 'deny',
    allowed: false,
    reason: error ?? 'refused while it ran',
    rule_matched,
    code: 'CONSTRAINT',
  };
}
