import { z } from 'zod';
import { Executables } from './executable-rule.js';
import { Hash } from './hash.js';
import { Role } from './key.js';

/**
 * The limits of an allowed call. For absent members the runner's own defaults apply, which are safe: no network for processes, no
 * private addresses, no shell, no writes to databases.
 */
export const Limits = z.object({
  timeout_ms: z.int().positive(),
  max_output_bytes: z.int().positive(),
  /** The domains that may be reached: exact names or `*.name`. */
  network: z.union([z.literal('none'), z.array(z.string())]).optional(),
  deny_domains: z.array(z.string()).optional(),
  /** True unless the policy explicitly sets it to false. */
  deny_private_ips: z.boolean().optional(),
  max_response_bytes: z.int().positive().optional(),
  /** Variables of the worker's environment that a process may see, in addition to the allowlist. */
  env: z.array(z.string()).optional(),
  sandbox: z.enum(['required', 'preferred']).optional(),
  /** Whether a process may run if its system calls cannot be filtered. */
  seccomp: z.enum(['required', 'preferred']).optional(),
  /** Globs, relative to the workspace. */
  allow_paths: z.array(z.string()).optional(),
  /** Lists of other policies and entries. Every list must allow a path. */
  also_allow_paths: z.array(z.array(z.string())).optional(),
  deny_paths: z.array(z.string()).optional(),
  allow_hidden: z.boolean().optional(),
  max_size_bytes: z.int().positive().optional(),
  /** Whether a program that is a shell, or takes a command line, may run. */
  shell: z.boolean().optional(),
  /** The arguments allowed for programs that can start others. Every list that names a program must allow it. */
  executables: z.array(Executables).optional(),
  /** Whether the kernel should or must prevent a program from starting another one. */
  exec_once: z.enum(['required', 'preferred']).optional(),
  /** Whether a database may be written to. */
  write: z.boolean().optional(),
  output_schema: z
    .enum(['enforce', 'warn'])
    .optional()
    .describe('How to treat output that does not match its schema: fail the call (default), or log a warning'),
});
export type Limits = z.infer<typeof Limits>;

/** Who has to agree before a held call runs. */
export const Approvals = z.strictObject({
  /** The number of different people. */
  required: z.int().min(1).max(100).optional().describe('How many different people; 1 by default'),
  /** An approver has all of these roles. */
  roles: z.array(Role).min(1).optional().describe('Approvers need all of these roles'),
  actors: z.array(z.string().min(1)).optional().describe('Only these actors may approve'),
  allow_self: z.boolean().optional().describe('Whether the submitter may approve; false by default'),
  expires_in_ms: z.int().positive().optional().describe('How long until the hold expires'),
  revote_on_edit: z
    .boolean()
    .optional()
    .describe(
      'Whether every edit of the inputs requires new votes; otherwise only an edit that the policy treats differently',
    ),
});
export type Approvals = z.infer<typeof Approvals>;

/** A rule that was evaluated. */
export const RuleLook = z.object({
  id: z.string(),
  matched: z.boolean(),
  why: z.string(),
  of: z.literal('installation').optional().describe('Set for rules of the installation’s policy'),
});
export type RuleLook = z.infer<typeof RuleLook>;

/** The decision of the policy about one call, and why. */
export const Decision = z.object({
  effect: z.enum(['allow', 'hold', 'deny']),
  allowed: z.boolean(),
  reason: z.string(),
  /** The rule that decided, or the part of `tools`, `risk` or `effects` that did, like `deny_paths[**\/.env]`. */
  rule_matched: z.string().nullable(),
  code: z.string().nullable(),
  /** Records contain the rules that matched; `explain` lists all. */
  rules: z.array(RuleLook).optional(),
  limits: Limits,
  /** For a hold: the largest quorum, all roles and the shortest expiry of all rules that hold the call. */
  approvals: Approvals.optional(),
  decided_by: z
    .enum(['tenant', 'installation'])
    .optional()
    .describe('Whose policy decided: the installation’s, if the tenant’s own would have allowed more'),
  lowered: z.array(z.string()).optional().describe('The limits that the installation’s policy lowered'),
  policy_hash: Hash.describe('The hash of the tenant’s policy together with the installation’s'),
});
export type Decision = z.infer<typeof Decision>;

/** The decision that denied a call at run time after it had been admitted; null for any other call. */
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
