import { z } from 'zod';
import { Approvals, RuleLook } from './decision.js';
import { Effects, Risk } from './descriptor.js';
import type { Problem } from './failure.js';
import { Hash } from './hash.js';
import { JsonObject } from './json.js';
import { hasRole, type Principal, type Role } from './key.js';
import { Identity } from './login.js';
import { McpToolChange } from './mcp-server.js';
import { InvocationStatus } from './status.js';

/** A returned hold is pending again. `withdrawn`: by the submitter, or by a tool that took its question back. `canceled`: the invocation was canceled. */
export const HoldStatus = z.enum(['pending', 'released', 'rejected', 'expired', 'withdrawn', 'canceled']);
export type HoldStatus = z.infer<typeof HoldStatus>;

/** A comment of a person on a hold or a grant. */
export const HoldComment = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'must not contain NUL or lone surrogates');

/** The three hashes that a vote and an approval cover. */
export const BoundHashes = z.object({ input_hash: Hash, descriptor_hash: Hash, policy_hash: Hash });
export type BoundHashes = z.infer<typeof BoundHashes>;

export const HoldEntry = z.object({
  at: z.iso.datetime(),
  actor: z.string(),
  kind: z.enum(['release', 'reject', 'comment', 'edit', 'return', 'withdraw', 'answer']),
  comment: z.string().nullable(),
  /** Increases when a hold is returned, or when an edit makes it a different call. */
  round: z.int(),
  /** The hash of the inputs that the actor saw and voted on or, for an edit, of the new inputs. */
  input_hash: Hash.nullable(),
  descriptor_hash: Hash.nullable(),
  policy_hash: Hash.nullable(),
  /** For an edit: the hash of the previous inputs. */
  previous_input_hash: Hash.nullable(),
  /** For an edit: the changed members of the inputs. */
  changed: z.array(z.string()).nullable(),
  /** Set for a vote given in advance by a grant. */
  grant_id: z.string().nullable(),
  /** For a release: whether it is valid for what would run now. A changed tool or policy voids it, and an edit may. */
  counts: z.boolean(),
  /** The identity of a person who logged in through the identity provider. */
  identity: Identity.nullable(),
});
export type HoldEntry = z.infer<typeof HoldEntry>;

export const HoldApprovals = Approvals.extend({
  required: z.int(),
  allow_self: z.boolean(),
  /** How many of the required votes are given. */
  given: z.int(),
  given_by: z.array(z.string()),
});
export type HoldApprovals = z.infer<typeof HoldApprovals>;

/** A change of the inputs: who changed which members, with old and new values. */
export const HoldEdit = z.object({
  at: z.iso.datetime(),
  actor: z.string(),
  changed: z.array(z.string()),
  previous_input_hash: Hash,
  input_hash: Hash,
});
export type HoldEdit = z.infer<typeof HoldEdit>;

/** A question that a tool asks during a call, as an MCP request: for example `elicitation/create` with a form. */
export const QuestionRequest = z.object({ method: z.string(), params: JsonObject.optional() });
export type QuestionRequest = z.infer<typeof QuestionRequest>;

/** The questions of a hold that waits for answers instead of approval, by key. */
export const Question = z.object({ requests: z.record(z.string(), QuestionRequest) });
export type Question = z.infer<typeof Question>;

/** Answers by the keys of their questions, for a form `{action: 'accept', content: {…}}`. */
export const Answers = z.record(z.string().max(256), JsonObject);
export type Answers = z.infer<typeof Answers>;

/** A hold as shown in lists and with its invocation. */
export const HoldSummary = z.object({
  hold_id: z.string(),
  invocation_id: z.string(),
  run_id: z.string(),
  tool_id: z.string(),
  /** The submitter of the call. */
  actor: z.string(),
  status: HoldStatus,
  round: z.int(),
  reason: z.string(),
  /** Why the hold was returned to pending. */
  returned_because: z.string().nullable(),
  risk: Risk.nullable(),
  approvals: HoldApprovals,
  input_hash: Hash,
  /** The hash of the submitted inputs; null if they were not changed. */
  original_input_hash: Hash.nullable(),
  /** Set if the hold waits for answers: the questions that are still open. */
  question: Question.nullable(),
  edits: z.array(HoldEdit),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  decided_at: z.iso.datetime().nullable(),
  decided_by: z.string().nullable(),
});
export type HoldSummary = z.infer<typeof HoldSummary>;

/** A single-use approval for one invocation, valid until the invocation ends or the approval expires. */
export const Approval = BoundHashes.extend({
  expires_at: z.iso.datetime().nullable(),
  used_at: z.iso.datetime().nullable(),
});
export type Approval = z.infer<typeof Approval>;

/** A hold in a list, with enough detail to decide most of them. Secrets in the inputs are redacted. */
export const HoldItem = HoldSummary.extend({
  step_id: z.string().nullable().describe('Set for a step of a plan'),
  inputs: JsonObject.describe('A preview: long texts and lists are shortened with …'),
  rules: z.array(RuleLook).describe('Every rule that matched'),
  rule_matched: z.string().nullable(),
  votes: z.array(HoldEntry),
  can_decide: z
    .object({ ok: z.boolean(), why: z.string().nullable() })
    .describe('Whether the caller may release it, and why or why not'),
});
export type HoldItem = z.infer<typeof HoldItem>;

/** Everything needed to decide a hold. Secrets in the inputs are redacted. */
export const Hold = HoldItem.extend({
  inputs: JsonObject,
  /** The submitted inputs; null if they were not changed. */
  original_inputs: JsonObject.nullable(),
  descriptor_hash: Hash,
  policy_hash: Hash,
  effects: Effects.nullable(),
  side_effects: z.array(z.string()),
  session_id: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  comments: z.array(HoldEntry),
  /** Edits of the inputs, and returns to pending. */
  changes: z.array(HoldEntry),
  approval: Approval.nullable(),
  /** Set if the call is held because the server now describes the tool differently: the accepted and the new description. */
  tool_change: McpToolChange.optional(),
});
export type Hold = z.infer<typeof Hold>;

export const HoldFilter = z.strictObject({
  status: HoldStatus.optional(),
  tool_id: z.string().optional(),
  actor: z.string().optional(),
  risk: Risk.optional(),
  run_id: z.string().optional(),
  rule: z.string().optional().describe('Only holds to which this rule contributed'),
});
export type HoldFilter = z.infer<typeof HoldFilter>;

export const HoldSort = z.enum(['created_at', 'expires_at']);
export type HoldSort = z.infer<typeof HoldSort>;

/** A decided hold of the same tool. */
export const SimilarHold = HoldSummary.pick({
  hold_id: true,
  invocation_id: true,
  actor: true,
  status: true,
  decided_by: true,
  decided_at: true,
}).extend({
  comment: z.string().nullable().describe('The comment given with the decision'),
  inputs: JsonObject,
  differs: z.array(z.string()).describe('The members of the inputs that differ; empty for the same call'),
  outcome: InvocationStatus.describe('The status of the call'),
  error: z.string().nullable(),
});
export type SimilarHold = z.infer<typeof SimilarHold>;

export const SimilarHolds = z.object({
  counts: z.partialRecord(HoldStatus, z.int()).describe('The number of decided holds of this tool by status'),
  items: z.array(SimilarHold).describe('The latest decided holds'),
});
export type SimilarHolds = z.infer<typeof SimilarHolds>;

export const MAX_DECIDED_AT_ONCE = 1000;

/** One decision about many holds: the listed ones, or the pending ones that match a filter. */
export const Decide = z
  .strictObject({
    hold_ids: z.array(z.string().min(1)).min(1).max(MAX_DECIDED_AT_ONCE).optional(),
    filter: HoldFilter.omit({ status: true })
      .refine((filter) => Object.keys(filter).length > 0, 'an empty filter would decide on everything')
      .optional(),
    decision: z.enum(['release', 'reject']),
    comment: HoldComment.optional(),
    input_hashes: z
      .record(z.string(), Hash)
      .optional()
      .describe('By hold: the hash of the inputs that were reviewed. A hold with other inputs is not released'),
  })
  .refine(({ hold_ids, filter }) => (hold_ids === undefined) !== (filter === undefined), {
    path: ['hold_ids'],
    message: 'give either hold_ids or filter',
  })
  .refine(({ decision, comment }) => decision === 'release' || comment !== undefined, {
    path: ['comment'],
    message: 'a rejection needs a reason',
  });
export type Decide = z.infer<typeof Decide>;

export const DecideAnswer = z.object({
  decided: z.int().describe('The number of holds that were decided'),
  refused: z.int(),
  items: z.array(
    z.object({
      hold_id: z.string(),
      ok: z.boolean(),
      status: HoldStatus.nullable().describe('The status after the decision; pending if more approvals are needed'),
      problem: z.custom<Problem>().optional().describe('Why it was refused'),
    }),
  ),
  more: z
    .boolean()
    .describe(`True if the filter matches more than ${MAX_DECIDED_AT_ONCE}, the most that are decided at once`),
});
export type DecideAnswer = z.infer<typeof DecideAnswer>;

export const Release = z.strictObject({
  comment: HoldComment.optional(),
  inputs: JsonObject.optional().describe(
    'Changed inputs. Policy decides again, and earlier votes stay valid if it treats the edited call the same. Placeholders [REDACTED] that come back unchanged keep their secret',
  ),
  input_hash: Hash.optional().describe('Refuse if the inputs have changed since'),
  answers: Answers.optional().describe('Answers to the questions of the hold, by key'),
});
export type Release = z.infer<typeof Release>;
export const Rejection = z.strictObject({ comment: HoldComment });
export type Rejection = z.infer<typeof Rejection>;
export const Withdrawal = z.strictObject({ comment: HoldComment.optional() });
export type Withdrawal = z.infer<typeof Withdrawal>;

/** The id of an invocation's hold: the same nanoid with another prefix. */
export const holdIdOf = (invocation_id: string): string => invocation_id.replace(/^inv_/, 'hld_');
export const invocationIdOf = (hold_id: string): string => hold_id.replace(/^hld_/, 'inv_');

type Voter = Pick<Principal, 'actor' | 'roles'>;

/**
 * Returns why somebody may not decide a hold, or null if they may. The policy may name actors, and roles, all of which are needed. If
 * it names neither, the role `operate` is needed.
 */
export function whyMayNotDecide({ roles, actors }: Approvals, voter: Voter): string | null {
  if (actors && !actors.includes(voter.actor)) return `only ${actors.join(', ')} may decide on it`;
  const needed: Role[] = roles ?? (actors ? [] : ['operate']);
  const missing = needed.filter((role) => !hasRole({ ...voter, key_id: '', tenant: '' }, role));
  return missing.length > 0 ? `deciding on it needs the role ${missing.join(' and ')}` : null;
}

/** Like `whyMayNotDecide`, and also refuses approval of one's own call. */
export const whyMayNotRelease = (approvals: Approvals, submitter: string, voter: Voter): string | null =>
  voter.actor === submitter && approvals.allow_self !== true
    ? 'the submitter of a call may not release it'
    : whyMayNotDecide(approvals, voter);
