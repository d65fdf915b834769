import { z } from 'zod';
import { Approvals, Decision, Limits } from './decision.js';
import { Effects, Risk, SideEffect, ToolSource, Trust } from './descriptor.js';
import { ExecOnce, Executables } from './executable-rule.js';
import { Hash } from './hash.js';
import { Mode } from './invocation.js';
import { JsonObject } from './json.js';
import { Role } from './key.js';
import { RunnerType } from './runner-type.js';

const oneOrMany = <T extends z.ZodType>(item: T) => z.union([item, z.array(item).min(1)]);
const Glob = z.string().min(1).max(1024);
const Globs = z.array(Glob).max(1000);
const Words = z.array(z.string().min(1).max(1024)).max(1000);

/** Which calls a rule matches. All given fields must match; of several values of a field, one is enough. */
export const PolicyMatch = z.strictObject({
  tool: oneOrMany(Glob).optional().describe('Ids of tools, with * and ?'),
  runner: oneOrMany(RunnerType).optional(),
  source: oneOrMany(ToolSource).optional(),
  origin: oneOrMany(Glob).optional().describe('Where the tool comes from: extension, server, capability'),
  risk_max: Risk.optional(),
  risk_min: Risk.optional(),
  side_effects_any: z.array(SideEffect).min(1).optional(),
  side_effects_none: z.array(SideEffect).min(1).optional(),
  effects: Effects.omit({ cost_units: true, filesystem: true })
    .partial()
    .extend({ filesystem: Effects.shape.filesystem.partial().optional() })
    .optional(),
  trust_min: Trust.optional(),
  mode: oneOrMany(Mode).optional(),
  actor: oneOrMany(Glob).optional(),
  roles: oneOrMany(Role).optional().describe('The actor has one of these roles'),
  tenant: oneOrMany(Glob).optional(),
  labels: z.record(z.string(), oneOrMany(z.string())).optional(),
});
export type PolicyMatch = z.infer<typeof PolicyMatch>;

const Expression = z.string().min(1).max(4096);

export const PolicyRule = z.strictObject({
  id: z.string().min(1).max(128),
  effect: z.enum(['allow', 'hold', 'forbid']),
  match: PolicyMatch.optional(),
  if: Expression.optional().describe('CEL over inputs, actor, labels, tool, mode and session_id'),
  approvals: Approvals.optional(),
  accepts: z
    .array(z.string().min(1).max(128))
    .min(1)
    .max(100)
    .optional()
    .describe(
      'Of an allow rule: what does not hold the calls that it matches, rules by id and gates by name (risk.HIGH)',
    ),
  reason: z.string().max(1024).optional(),
});
export type PolicyRule = z.infer<typeof PolicyRule>;

/** Limits for allowed calls. If several apply, the lowest wins. */
export const PolicyLimit = Limits.omit({
  allow_paths: true,
  also_allow_paths: true,
  deny_paths: true,
  allow_hidden: true,
  max_size_bytes: true,
  executables: true,
  exec_once: true,
})
  .partial()
  .extend({ match: PolicyMatch.optional(), exec_once: ExecOnce.optional() })
  .strict();
export type PolicyLimit = z.infer<typeof PolicyLimit>;

/** What a tool may access. An empty allow list allows nothing, and so does a size of 0. */
export const ToolConstraints = z.strictObject({
  allow_paths: Globs.optional(),
  deny_paths: Globs.optional(),
  allow_hidden: z.boolean().optional(),
  max_size_bytes: z.int().nonnegative().optional(),
  allow_domains: Words.optional(),
  deny_domains: Words.optional(),
  deny_private_ips: z.boolean().optional(),
  allow_methods: Words.optional(),
  max_response_bytes: z.int().nonnegative().optional(),
  allow_executables: Words.optional(),
  executables: Executables.optional().describe('The arguments of programs that can start others'),
  deny_tokens: Words.optional(),
  max_output_bytes: z.int().positive().optional(),
  timeout_seconds: z.number().positive().optional(),
});
export type ToolConstraints = z.infer<typeof ToolConstraints>;

/** What a risk level requires, whatever the rules allow. */
export const RiskGate = z.strictObject({
  effect: z.enum(['allow', 'hold', 'forbid']).optional(),
  approvals: Approvals.optional(),
  require_spec_frozen: z.boolean().optional(),
});
export type RiskGate = z.infer<typeof RiskGate>;

const Gate = z.enum(['allow', 'hold', 'forbid']).optional();

/** What the declared effects of a tool require, whatever the rules allow. */
export const EffectGates = z.strictObject({
  destructive: Gate,
  non_reversible: Gate,
  billable: Gate,
  network: Gate,
  filesystem_write: Gate,
  filesystem_delete: Gate,
  interactive: Gate,
  max_cost_units: z.number().nonnegative().optional(),
  trust_min: Trust.optional(),
});
export type EffectGates = z.infer<typeof EffectGates>;

/**
 * Unknown keys are errors, so that a misspelled restriction is never silently ignored. Stored as sent, and defaults are applied when
 * it is compiled, so that the hash is that of the author's document.
 */
export const PolicyDocument = z.strictObject({
  version: z.literal('1.0').optional(),
  boundary: z.literal('deny_by_default').optional(),
  tools: z.record(Glob, ToolConstraints).optional(),
  global_timeout_seconds: z.number().positive().optional(),
  max_calls_per_tool: z.int().nonnegative().optional(),
  rules: z.array(PolicyRule).max(10_000).optional(),
  limits: z.array(PolicyLimit).max(10_000).optional(),
  risk: z.partialRecord(Risk, RiskGate).optional(),
  effects: EffectGates.optional(),
  approved_specs: z.array(Hash).max(10_000).optional().describe('The hashes of frozen, approved specifications'),
});
export type PolicyDocument = z.infer<typeof PolicyDocument>;

/** The name of the policy that bounds those of all tenants. It is not a valid tenant name. */
export const INSTALLATION_POLICY = '_installation';

/** The name of the policy for the installation's own calls. No other policy bounds it. */
export const INTERNAL_POLICY = 'capstan.internal';

/** The default policy of the installation, which denies everything that only an installation policy can allow. */
export const CLOSED_INSTALLATION: PolicyDocument = { version: '1.0', boundary: 'deny_by_default' };

/**
 * The policy that decides calls: a tenant's policy, and the installation's policy that bounded it at that time. Stored as one
 * document, so that one hash covers both and the worker that decides again has both.
 */
export const EffectivePolicy = PolicyDocument.extend({ installation: PolicyDocument.optional() });
export type EffectivePolicy = z.infer<typeof EffectivePolicy>;

export const Policy = z.object({
  name: z.string(),
  version: z.int(),
  policy_hash: z.string(),
  document: PolicyDocument,
  text: z.string().nullable().describe('The YAML as sent, with its comments; null if it was sent as JSON'),
  created_at: z.iso.datetime(),
});
export type Policy = z.infer<typeof Policy>;

export const RollbackPolicy = z.strictObject({ version: z.int().min(1).max(2_147_483_647) });

/** Something in a policy that is valid but probably a mistake. */
export const PolicyWarning = z.object({ field: z.string(), message: z.string() });
export type PolicyWarning = z.infer<typeof PolicyWarning>;

/** The response to a PUT. */
export const PutPolicy = Policy.extend({ warnings: z.array(PolicyWarning) });
export type PutPolicy = z.infer<typeof PutPolicy>;

/** A version of a policy, without its content. */
export const PolicyVersion = Policy.omit({ document: true, text: true }).extend({ created_by: z.string() });
export type PolicyVersion = z.infer<typeof PolicyVersion>;

/** A document as JSON, or as the YAML text that a person wrote. */
const Draft = z.union([z.string().max(1_048_576), JsonObject]);

export const ExplainRequest = z.strictObject({
  tool_id: z.string().min(1).max(512).describe('The tool of the call to explain'),
  inputs: JsonObject.default({}).describe('Its inputs'),
  mode: Mode.default('execution'),
  timeout_ms: z.int().positive().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  session_id: z.string().optional(),
  spec_frozen: z.boolean().optional(),
  spec_hash: Hash.optional(),
  actor: z.string().optional().describe('An actor other than the caller'),
  roles: z.array(Role).optional(),
  policy: Draft.optional().describe('A draft; by default the policy in force'),
});
export type ExplainRequest = z.input<typeof ExplainRequest>;

export const Explanation = Decision.extend({
  suggestion: z.string().nullable(),
  errors: z
    .array(z.object({ field: z.string(), message: z.string() }))
    .optional()
    .describe('Inputs that the tool does not accept'),
});
export type Explanation = z.infer<typeof Explanation>;

export const WhatIfRequest = z.strictObject({
  policy: Draft,
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  limit: z.int().min(0).max(10_000).default(100).describe('How many changed decisions to list'),
});
export type WhatIfRequest = z.input<typeof WhatIfRequest>;

const Verdict = Decision.pick({ effect: true, reason: true, rule_matched: true, code: true });

/** A recorded invocation that the draft would decide differently. */
export const ChangedDecision = z.object({
  invocation_id: z.string(),
  tool_id: z.string(),
  actor: z.string(),
  created_at: z.iso.datetime(),
  was: Verdict,
  would_be: Verdict,
});
export type ChangedDecision = z.infer<typeof ChangedDecision>;

export const WhatIfCounts = z.object({
  total: z.int(),
  checked: z.int(),
  changed: z.int(),
  /** The number of changed decisions by kind, such as `allow → deny`. */
  changes: z.record(z.string(), z.int()),
  /** Invocations of tools that no longer exist, which cannot be decided. */
  unknown_tools: z.int(),
});
export type WhatIfCounts = z.infer<typeof WhatIfCounts>;

export const WhatIfAnswer = WhatIfCounts.extend({
  items: z.array(ChangedDecision),
  /** Changed decisions that are not listed. */
  more: z.int(),
});
export type WhatIfAnswer = z.infer<typeof WhatIfAnswer>;

export const ProposeRequest = z.strictObject({
  hold_id: z.string().min(1).max(128),
  inputs: z
    .array(z.string().max(1024))
    .max(1000)
    .optional()
    .describe('The members of the inputs that must be the same; all by default'),
});
export type ProposeRequest = z.infer<typeof ProposeRequest>;

/** The calls that a proposed rule covers. */
export const ProposalScope = z.object({
  tenant: z.string(),
  tool_id: z.string(),
  actor: z.string(),
  mode: Mode,
  inputs: JsonObject.describe('Members that must have exactly these values'),
  any_input: z.array(z.string()).describe('Members of this call that may have any value'),
  exact: z.boolean().describe('Whether all inputs must be the same, with no others present'),
  holds: z.array(z.string()).describe('The rules and gates that would no longer hold such a call'),
});
export type ProposalScope = z.infer<typeof ProposalScope>;

/** A rule that would allow calls like a held one. It is only proposed, not stored. */
export const PolicyProposal = z.object({
  rule: PolicyRule,
  yaml: z.string().describe('The rule as it would appear in the policy'),
  covers: ProposalScope,
  what_if: WhatIfAnswer.describe('Over the last 30 days: the decisions about calls of this tool that it would change'),
  policy: z
    .object({ name: z.string(), version: z.int(), text: z.string() })
    .nullable()
    .describe(
      'The policy in force with the rule in it, ready to be put with If-Match; null if the key may not read policies',
    ),
});
export type PolicyProposal = z.infer<typeof PolicyProposal>;

/** The lines of a streamed what-if. */
export type WhatIfLine =
  | { kind: 'progress'; checked: number; total: number; changed: number }
  | ({ kind: 'changed' } & ChangedDecision)
  | ({ kind: 'done' } & WhatIfCounts);
