import { z } from 'zod';
import { Approvals, RuleLook } from './decision.js';
import { Effects, Risk } from './descriptor.js';
import type { Problem } from './failure.js';
import { Hash } from './hash.js';
import { JsonObject } from './json.js';
import { hasRole, type Principal, Role } from './key.js';
import { Identity } from './login.js';
import { InvocationStatus } from './status.js';

/** `returned` ones are pending again. `withdrawn`: by who submitted it; `canceled`: the invocation was. */
export const HoldStatus = z.enum(['pending', 'released', 'rejected', 'expired', 'withdrawn', 'canceled']);
export type HoldStatus = z.infer<typeof HoldStatus>;

const Comment = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .refine((text) => text.isWellFormed() && !text.includes('\u0000'), 'no NUL and no half of a surrogate pair');

/** The three things that a vote and an approval are bound to. */
export const BoundHashes = z.object({ input_hash: Hash, descriptor_hash: Hash, policy_hash: Hash });
export type BoundHashes = z.infer<typeof BoundHashes>;

export const HoldEntry = z.object({
  at: z.iso.datetime(),
  actor: z.string(),
  kind: z.enum(['release', 'reject', 'comment', 'edit', 'return', 'withdraw', 'answer']),
  comment: z.string().nullable(),
  /** A hold that came back, or was changed into another call, is in its next round. */
  round: z.int(),
  /** Of the inputs that the actor has seen and voted on; of an edit, those that it made. */
  input_hash: Hash.nullable(),
  descriptor_hash: Hash.nullable(),
  policy_hash: Hash.nullable(),
  /** Of an edit: what the inputs were before. */
  previous_input_hash: Hash.nullable(),
  /** Of an edit: the members of the inputs that it changed. */
  changed: z.array(z.string()).nullable(),
  /** A vote that was given in advance. */
  grant_id: z.string().nullable(),
  /** Of a release: whether it is good for what would run now. A changed tool or policy voids it, and so may an edit. */
  counts: z.boolean(),
  /** Who it was, where they came through the identity provider. */
  identity: Identity.nullable(),
});
export type HoldEntry = z.infer<typeof HoldEntry>;

export const HoldApprovals = Approvals.extend({
  required: z.int(),
  allow_self: z.boolean(),
  /** So many of the required ones are given. */
  given: z.int(),
  given_by: z.array(z.string()),
});
export type HoldApprovals = z.infer<typeof HoldApprovals>;

/** Who changed which members of the inputs, from what to what. */
export const HoldEdit = z.object({
  at: z.iso.datetime(),
  actor: z.string(),
  changed: z.array(z.string()),
  previous_input_hash: Hash,
  input_hash: Hash,
});
export type HoldEdit = z.infer<typeof HoldEdit>;

/** What a tool asks in the middle of a call, as MCP spells it: `elicitation/create` with a form, for example. */
export const QuestionRequest = z.object({ method: z.string(), params: JsonObject.optional() });
export type QuestionRequest = z.infer<typeof QuestionRequest>;

/** The questions of a hold that waits for answers instead of an agreement, by their keys. */
export const Question = z.object({ requests: z.record(z.string(), QuestionRequest) });
export type Question = z.infer<typeof Question>;

/** Answers by the keys of their questions: `{action: 'accept', content: {…}}` to a form. */
export const Answers = z.record(z.string().max(256), JsonObject);
export type Answers = z.infer<typeof Answers>;

/** What lists show of a hold, and the invocation's own answer. */
export const HoldSummary = z.object({
  hold_id: z.string(),
  invocation_id: z.string(),
  run_id: z.string(),
  tool_id: z.string(),
  /** Who asked for the call. */
  actor: z.string(),
  status: HoldStatus,
  round: z.int(),
  reason: z.string(),
  /** Why it is pending once more. */
  returned_because: z.string().nullable(),
  risk: Risk.nullable(),
  approvals: HoldApprovals,
  input_hash: Hash,
  /** Of the inputs as they were submitted; null when nobody has changed them. */
  original_input_hash: Hash.nullable(),
  /** Set where it waits for answers: what the tool asks, without what was answered already. */
  question: Question.nullable(),
  edits: z.array(HoldEdit),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  decided_at: z.iso.datetime().nullable(),
  decided_by: z.string().nullable(),
});
export type HoldSummary = z.infer<typeof HoldSummary>;

/** Single use: for one invocation, until it ends or this expires. */
export const Approval = BoundHashes.extend({
  expires_at: z.iso.datetime().nullable(),
  used_at: z.iso.datetime().nullable(),
});
export type Approval = z.infer<typeof Approval>;

/** What lists show: enough to decide on most. Secrets in the inputs are redacted. */
export const HoldItem = HoldSummary.extend({
  step_id: z.string().nullable().describe('Of a step of a plan'),
  inputs: JsonObject.describe('A preview: long texts and lists are cut, with … in their place'),
  rules: z.array(RuleLook).describe('Every rule that matched'),
  rule_matched: z.string().nullable(),
  votes: z.array(HoldEntry),
  can_decide: z
    .object({ ok: z.boolean(), why: z.string().nullable() })
    .describe('Whether who asks may release it, and if not, why'),
});
export type HoldItem = z.infer<typeof HoldItem>;

/** All that somebody who decides has to know. Secrets in the inputs are redacted. */
export const Hold = HoldItem.extend({
  inputs: JsonObject,
  /** As they were submitted; null when nobody has changed them. */
  original_inputs: JsonObject.nullable(),
  descriptor_hash: Hash,
  policy_hash: Hash,
  effects: Effects.nullable(),
  side_effects: z.array(z.string()),
  session_id: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  comments: z.array(HoldEntry),
  /** Changes of the inputs, and returns to pending. */
  changes: z.array(HoldEntry),
  approval: Approval.nullable(),
});
export type Hold = z.infer<typeof Hold>;

export const HoldFilter = z.strictObject({
  status: HoldStatus.optional(),
  tool_id: z.string().optional(),
  actor: z.string().optional(),
  risk: Risk.optional(),
  run_id: z.string().optional(),
  rule: z.string().optional().describe('Held by this rule, alone or among others'),
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
  comment: z.string().nullable().describe('What whoever decided it said about it'),
  inputs: JsonObject,
  differs: z.array(z.string()).describe('The members of the inputs that are not the same; empty for the same call'),
  outcome: InvocationStatus.describe('How the call ended, or stands'),
  error: z.string().nullable(),
});
export type SimilarHold = z.infer<typeof SimilarHold>;

export const SimilarHolds = z.object({
  counts: z.partialRecord(HoldStatus, z.int()).describe('Of all decided holds of this tool'),
  items: z.array(SimilarHold).describe('The latest of them'),
});
export type SimilarHolds = z.infer<typeof SimilarHolds>;

export const MAX_DECIDED_AT_ONCE = 1000;

/** One decision on many holds: those named, or those pending that a filter picks. */
export const Decide = z
  .strictObject({
    hold_ids: z.array(z.string().min(1)).min(1).max(MAX_DECIDED_AT_ONCE).optional(),
    filter: HoldFilter.omit({ status: true })
      .refine((filter) => Object.keys(filter).length > 0, 'an empty filter would decide on everything')
      .optional(),
    decision: z.enum(['release', 'reject']),
    comment: Comment.optional(),
    input_hashes: z
      .record(z.string(), Hash)
      .optional()
      .describe('By hold: of the inputs that were looked at. One whose inputs are others by now is not released'),
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
  decided: z.int().describe('Of how many the decision was taken'),
  refused: z.int(),
  items: z.array(
    z.object({
      hold_id: z.string(),
      ok: z.boolean(),
      status: HoldStatus.nullable().describe('After the decision; pending where more people have to agree'),
      problem: z.custom<Problem>().optional().describe('Why it was refused'),
    }),
  ),
  more: z.boolean().describe(`The filter picks more than the ${MAX_DECIDED_AT_ONCE} that are decided at once`),
});
export type DecideAnswer = z.infer<typeof DecideAnswer>;

export const Release = z.strictObject({
  comment: Comment.optional(),
  inputs: JsonObject.optional().describe(
    'Changed inputs; policy decides on them again. Votes given before stay good unless policy sees another call in them',
  ),
  input_hash: Hash.optional().describe('Refuse when the inputs are others by now than those seen'),
  answers: Answers.optional().describe('To the questions of a hold that asks some, by their keys'),
});
export type Release = z.infer<typeof Release>;
export const Rejection = z.strictObject({ comment: Comment });
export type Rejection = z.infer<typeof Rejection>;
export const Withdrawal = z.strictObject({ comment: Comment.optional() });
export type Withdrawal = z.infer<typeof Withdrawal>;

const MAX_GRANT_MS = 30 * 86_400_000;
const DEFAULT_GRANT_MS = 86_400_000;

/** A vote given in advance: for the next calls of a tool, or for the steps of a plan that cannot change any more. */
export const NewGrant = z
  .strictObject({
    kind: z.enum(['tool', 'plan']).default('tool'),
    tool_id: z.string().min(1).max(512).optional(),
    plan_hash: Hash.optional(),
    input_hash: Hash.optional().describe('Only for exactly these inputs'),
    max_risk: Risk.optional().describe('Only for tools of at most this risk'),
    count: z
      .int()
      .min(1)
      .max(10_000)
      .optional()
      .describe('For so many calls; of a tool 1 by default, of a plan any number'),
    expires_in_ms: z.int().min(1).max(MAX_GRANT_MS).default(DEFAULT_GRANT_MS),
    comment: Comment.optional(),
  })
  .refine(({ kind, tool_id }) => kind === 'plan' || tool_id !== undefined, { path: ['tool_id'], message: 'is missing' })
  .refine(({ kind, plan_hash }) => (kind === 'plan') === (plan_hash !== undefined), {
    path: ['plan_hash'],
    message: 'belongs to a grant of kind plan, and only there',
  });
export type NewGrant = z.infer<typeof NewGrant>;
export type NewGrantInput = z.input<typeof NewGrant>;

export const Grant = z.object({
  grant_id: z.string(),
  kind: z.enum(['tool', 'plan']),
  actor: z.string(),
  roles: z.array(Role),
  tool_id: z.string().nullable(),
  plan_hash: Hash.nullable(),
  input_hash: Hash.nullable(),
  max_risk: Risk.nullable(),
  count: z.int().nullable(),
  used: z.int(),
  comment: z.string().nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  revoked_at: z.iso.datetime().nullable(),
});
export type Grant = z.infer<typeof Grant>;

/** The hold of an invocation: the same nanoid under another prefix. */
export const holdIdOf = (invocation_id: string): string => invocation_id.replace(/^inv_/, 'hld_');
export const invocationIdOf = (hold_id: string): string => hold_id.replace(/^hld_/, 'inv_');

type Voter = Pick<Principal, 'actor' | 'roles'>;

/**
 * Why somebody may not decide on a hold; null when they may. Those whom policy names may; where it names roles, all of them
 * are needed; where it names nobody, `operate`.
 */
export function whyMayNotDecide({ roles, actors }: Approvals, voter: Voter): string | null {
  if (actors && !actors.includes(voter.actor)) return `only ${actors.join(', ')} may decide on it`;
  const needed: Role[] = roles ?? (actors ? [] : ['operate']);
  const missing = needed.filter((role) => !hasRole({ ...voter, key_id: '', tenant: '' }, role));
  return missing.length > 0 ? `who decides on it needs the role ${missing.join(' and ')}` : null;
}

/** The same, and whether they would approve of their own call. */
export const whyMayNotRelease = (approvals: Approvals, submitter: string, voter: Voter): string | null =>
  voter.actor === submitter && approvals.allow_self !== true
    ? 'who submitted a call may not release it'
    : whyMayNotDecide(approvals, voter);
