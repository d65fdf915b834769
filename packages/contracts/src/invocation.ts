import { z } from 'zod';
import { Decision } from './decision.js';
import type { Problem } from './failure.js';
import { Hash } from './hash.js';
import { HoldSummary } from './hold.js';
import { JsonObject } from './json.js';
import { Result } from './result.js';
import { QueueName } from './runner-type.js';
import { InvocationStatus } from './status.js';
import { DAY_MS } from './time.js';

/** Text that Postgres can store unchanged: no NUL and no lone surrogate. */
const storable = (text: string) => text.isWellFormed() && !text.includes('\u0000');
const Text = z.string().refine(storable, 'must not contain NUL or lone surrogates');
/** Text that is also safe in a log line. */
const Name = z
  .string()
  .min(1)
  .max(255)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  .regex(/^[^\u0000-\u001f\u007f]*$/, 'no control characters')
  .refine(storable, 'no half of a surrogate pair');

/** A time in the range of both Postgres and Date, converted to UTC. */
const Moment = z.iso
  .datetime({ offset: true })
  .refine((text) => Date.parse(text) >= 0, 'not before 1970')
  .transform((text) => new Date(text).toISOString());

export const Mode = z.enum(['execution', 'planning']);

/** A call as submitted. Unknown fields are errors, because a misspelled option must not be ignored. */
export const Submission = z.strictObject({
  tool_id: z.string().min(1).max(512).describe('The tool, as in GET /v1/tools'),
  inputs: JsonObject.default({}).describe('Its inputs, checked against its input_schema'),
  session_id: Name.optional().describe('The session whose files, notes and last response the tool uses'),
  idempotency_key: Name.optional().describe(
    'The same key answers the first call of the tenant with it, instead of a new one',
  ),
  mode: Mode.default('execution').describe('planning denies every tool that does more than read'),
  spec_frozen: z.boolean().optional().describe('True if the call belongs to a frozen specification'),
  spec_hash: Hash.optional().describe('The hash of that specification'),
  priority: z
    .int()
    .min(-1_000_000)
    .max(1_000_000)
    .default(0)
    .describe('Lower numbers run first; equal ones in order of submission'),
  timeout_ms: z.int().min(1).max(DAY_MS).optional().describe('The deadline of one attempt; policy can lower it'),
  delay_ms: z
    .int()
    .min(0)
    .max(366 * DAY_MS)
    .optional()
    .describe('Start no earlier than after this delay'),
  run_at: Moment.optional().describe('Start no earlier than at this time, such as 2026-01-31T12:00:00Z'),
  expires_in_ms: z
    .int()
    .min(1)
    .max(366 * DAY_MS)
    .optional()
    .describe('A call that has not started by then ends expired'),
  max_attempts: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe('How often it is tried: by default 3 times if the tool is idempotent, otherwise once'),
  webhook_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .describe('An address that gets the result'),
  labels: z
    .record(Name, Text.max(1024))
    .refine((labels) => Object.keys(labels).length <= 64, 'at most 64 labels')
    .default({})
    .describe('Names with values, to find the call by and to write rules about'),
});
export type Submission = z.infer<typeof Submission>;
export type SubmissionInput = z.input<typeof Submission>;

/** The outcome that a submission would have now. */
export const Validation = z.object({
  tool_id: z.string(),
  status: InvocationStatus.describe('The initial status it would have; denied if it would be refused'),
  inputs: JsonObject.describe('As the tool would get them'),
  warnings: z.array(z.string()).describe('Inputs that would be left out'),
  input_hash: Hash,
  descriptor_hash: Hash,
  decision: Decision,
  suggestion: z.string().nullable().describe('How to resolve a denial'),
});
export type Validation = z.infer<typeof Validation>;

export const MAX_BULK = 10_000;
/** Items are checked one by one, so that an invalid one is reported and the others are accepted. */
export const BulkSubmission = z.strictObject({ invocations: z.array(z.unknown()).min(1).max(MAX_BULK) });
export type BulkSubmission = z.infer<typeof BulkSubmission>;

/** One result for each item, in the given order. `invalid` items were not accepted; `problem` says why. */
export const BulkItem = z.object({
  index: z.int(),
  invocation_id: z.string().optional(),
  hold_id: z.string().optional().describe('The hold, if the call waits or waited for approval'),
  status: z.union([InvocationStatus, z.literal('invalid')]),
  problem: z.custom<Problem>().optional(),
});
export type BulkItem = z.infer<typeof BulkItem>;

export const BulkAnswer = z.object({
  run_id: z.string(),
  accepted: z.int(),
  held: z.int(),
  denied: z.int(),
  invalid: z.int(),
  items: z.array(BulkItem),
});
export type BulkAnswer = z.infer<typeof BulkAnswer>;

export const Attempt = z.object({
  attempt: z.int(),
  worker_id: z.string(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  outcome: z.string().nullable(),
  error: z.string().nullable(),
});
export type Attempt = z.infer<typeof Attempt>;

/** The fields of every response about an invocation. */
export const Invocation = z.object({
  invocation_id: z.string(),
  run_id: z.string(),
  tool_id: z.string(),
  runner: QueueName,
  status: InvocationStatus,
  actor: z.string(),
  inputs: JsonObject,
  input_hash: Hash,
  descriptor_hash: Hash,
  policy_hash: Hash,
  decision: Decision,
  hold_id: z.string().nullable().describe('The hold, if the call waits or waited for approval: see /v1/holds/{id}'),
  mode: Mode,
  session_id: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  priority: z.int(),
  timeout_ms: z.int(),
  max_attempts: z.int(),
  attempt: z.int(),
  labels: z.record(z.string(), z.string()),
  run_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
  result: Result.nullable(),
  replay_of: z.string().optional().describe('The run whose result it reuses; absent if it was executed'),
});
export type Invocation = z.infer<typeof Invocation>;

/** Why an invocation has not started, if waiting alone may not be enough. */
export const Waiting = z.object({
  cause: z.enum(['hold', 'quota', 'queue_paused', 'no_worker', 'run_at']),
  detail: z.string(),
  suggestion: z.string(),
});
export type Waiting = z.infer<typeof Waiting>;

export const InvocationDetail = Invocation.extend({
  attempts: z.array(Attempt),
  hold: HoldSummary.nullable(),
  waits_for: z.array(z.string()).describe('The quotas that must have room before a deferred call is queued'),
  waiting: Waiting.nullable().describe('Why it has not started; null if it only waits for its turn'),
});
export type InvocationDetail = z.infer<typeof InvocationDetail>;

/** An empty value is refused. If it meant "any", a bulk action could affect everything. */
const Wanted = Text.min(1);
export const InvocationFilter = z.strictObject({
  status: z
    .union([InvocationStatus, z.array(InvocationStatus).min(1)])
    .transform((status) => (Array.isArray(status) ? status : [status]))
    .optional(),
  tool_id: Wanted.optional(),
  runner: QueueName.optional(),
  run_id: Wanted.optional(),
  session_id: Wanted.optional(),
  label: z
    .union([Wanted, z.array(Wanted).min(1)])
    .transform((label) => (Array.isArray(label) ? label : [label]))
    .describe('key:value or key=value, or a key alone')
    .optional(),
  actor: Wanted.optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
  q: Wanted.max(200)
    .describe('A prefix of an id, or a part of the tool, the actor, a label value or the error; case-insensitive')
    .optional(),
});
export type InvocationFilter = z.infer<typeof InvocationFilter>;

export const InvocationCounts = z.object({
  total: z.int(),
  status: z.partialRecord(InvocationStatus, z.int()),
  runner: z.record(z.string(), z.int()),
  tool_id: z.record(z.string(), z.int()).describe('The 20 with the most'),
  actor: z.record(z.string(), z.int()).describe('The 20 with the most'),
  capped: z.boolean().describe('True if only the newest 100,000 were counted'),
});
export type InvocationCounts = z.infer<typeof InvocationCounts>;

export const Resolution = z.strictObject({
  outcome: z.enum(['succeeded', 'failed']),
  comment: Text.min(1).max(4096),
});
export type Resolution = z.infer<typeof Resolution>;

/** A lone invocation is its own run: the same nanoid with another prefix, without a row. */
export const loneRunId = (invocation_id: string): string => invocation_id.replace(/^inv_/, 'run_');
export const loneInvocationId = (run_id: string): string => run_id.replace(/^run_/, 'inv_');
