import { z } from 'zod';
import { Decision } from './decision.js';
import { Hash } from './hash.js';
import { type Json, JsonObject } from './json.js';
import { MAX_ELEMENTS } from './plan.js';
import { Result } from './result.js';
import { InvocationStatus } from './status.js';

export const RunStatus = z.enum(['pending', 'running', 'paused', 'completed', 'failed', 'canceled']);
export type RunStatus = z.infer<typeof RunStatus>;

export const RunKind = z.enum(['lone', 'bulk', 'plan']);
export type RunKind = z.infer<typeof RunKind>;

export const Run = z.object({
  run_id: z.string(),
  kind: RunKind,
  status: RunStatus,
  actor: z.string(),
  mode: z
    .enum(['execution', 'replay'])
    .describe('replay: the results are those of another run, and nothing was executed'),
  replay_of: z.string().nullable(),
  name: z.string().nullable().describe('The name of its plan'),
  plan_hash: Hash.nullable(),
  policy_hash: Hash.nullable().describe('The policy version that decides all of its steps'),
  reason: z.string().nullable().describe('Why it failed'),
  total_steps: z.int(),
  completed_steps: z.int(),
  denied_steps: z.int(),
  failed_steps: z.int(),
  canceled_steps: z.int(),
  skipped_steps: z.int(),
  held_steps: z.int().describe('Steps that wait for approval: see /v1/holds?run_id=…'),
  created_at: z.iso.datetime(),
  finished_at: z.iso.datetime().nullable(),
});
export type Run = z.infer<typeof Run>;

/** A run with the plan and inputs it was started with. */
export const RunDetail = Run.extend({
  plan: JsonObject.nullable(),
  inputs: JsonObject.nullable(),
  max_parallel: z.int().nullable(),
  webhook_url: z.string().nullable(),
});
export type RunDetail = z.infer<typeof RunDetail>;

export const RunFilter = z.strictObject({
  kind: z
    .union([RunKind, z.array(RunKind)])
    .transform((kind) => (Array.isArray(kind) ? kind : [kind]))
    .optional(),
  status: z
    .union([RunStatus, z.array(RunStatus)])
    .transform((status) => (Array.isArray(status) ? status : [status]))
    .optional(),
  actor: z.string().optional(),
  name: z.string().optional(),
  plan_hash: Hash.optional(),
  since: z.iso.datetime({ offset: true }).optional(),
  until: z.iso.datetime({ offset: true }).optional(),
});
export type RunFilter = z.infer<typeof RunFilter>;

/** A document as JSON, or as the YAML text that a person wrote. */
const Document = z.union([z.string().max(16_777_216), JsonObject]);

export const RunSubmission = z.strictObject({
  plan: Document.describe('The plan, as JSON or as YAML text'),
  policy: Document.optional().describe('Replaces the policy in force; requires the role admin'),
  inputs: JsonObject.default({}).describe('The inputs that the plan declares'),
  webhook_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .describe('An address that gets the end of the run'),
  max_parallel: z.int().min(1).max(MAX_ELEMENTS).optional().describe('The most steps that run at the same time'),
});
export type RunSubmission = z.infer<typeof RunSubmission>;
export type RunSubmissionInput = z.input<typeof RunSubmission>;

export const RunAccepted = Run.pick({
  run_id: true,
  plan_hash: true,
  policy_hash: true,
  status: true,
  name: true,
  total_steps: true,
});
export type RunAccepted = z.infer<typeof RunAccepted>;

/** `pending`: the steps it needs have not ended. `skipped`: it will not be called; `reason` says why. */
export const StepStatus = z.enum([...InvocationStatus.options, 'pending', 'skipped']);
export type StepStatus = z.infer<typeof StepStatus>;

export const Step = z.object({
  step_id: z.string(),
  /** The position in the plan; `element` is the position within a fan-out. */
  index: z.int(),
  element: z.int().nullable(),
  name: z.string().nullable(),
  tool_id: z.string(),
  status: StepStatus,
  invocation_id: z.string().nullable(),
  reason: z.string().nullable(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  duration_ms: z.number().nullable().describe('The duration of the last attempt; null until the step has ended'),
  reused_from: z.string().nullable().describe('The run whose result it reuses; null if it was executed in this run'),
  result: Result.nullable(),
});
export type Step = z.infer<typeof Step>;

/** The events of `GET /v1/runs/{id}/events`. `Last-Event-ID` resumes after an `id`. */
export const RunEvent = z.discriminatedUnion('event', [
  z.object({ id: z.string(), event: z.literal('step'), data: Step.omit({ result: true }) }),
  z.object({ id: z.string(), event: z.literal('run'), data: Run }),
]);
export type RunEvent = z.infer<typeof RunEvent>;

/** The decision that a step would get. Inputs that depend on outputs are not known yet. */
export const DryStep = z.object({
  step_id: z.string(),
  index: z.int(),
  element: z.int().nullable(),
  name: z.string().nullable(),
  tool_id: z.string(),
  needs: z.array(z.string()),
  effect: z.enum(['allow', 'hold', 'deny', 'unknown', 'skip', 'invalid']),
  reason: z.string(),
  inputs: z.custom<Json>(() => true).describe('Values not known yet appear as their expression'),
  unknown: z.array(z.string()).describe('The expressions that depend on outputs'),
  decision: Decision.nullable(),
});
export type DryStep = z.infer<typeof DryStep>;

export const DryRun = z.object({
  plan_hash: Hash,
  policy_hash: Hash,
  name: z.string().nullable(),
  steps: z.array(DryStep),
  left_out: z.int().describe('Elements of for_each beyond the first hundred of a step, which are not listed'),
});
export type DryRun = z.infer<typeof DryRun>;

/** True if the run has ended. */
export const isRunOver = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'canceled';

/**
 * The invocation id of a step is derived from its position, so that no call is made twice and the id identifies the step. A nanoid
 * has 21 characters, so no other id has this format.
 */
export const stepInvocationId = (run_id: string, step: number, element: number | null): string =>
  `inv_${run_id.slice('run_'.length)}-${step}${element === null ? '' : `-${element}`}`;

export type StepPlace = { run_id: string; step: number; element: number | null };

export function stepPlaceOf(invocation_id: string): StepPlace | null {
  // Most ids are not those of steps, which are longer.
  if (invocation_id.length <= 25) return null;
  const [, run, step, element] = /^inv_([\w-]{21})-(\d{1,9})(?:-(\d{1,9}))?$/.exec(invocation_id) ?? [];
  if (run === undefined || step === undefined) return null;
  return { run_id: `run_${run}`, step: Number(step), element: element === undefined ? null : Number(element) };
}
