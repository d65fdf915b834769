import { z } from 'zod';
import { Decision } from './decision.js';
import { Hash } from './hash.js';
import { Attempt } from './invocation.js';
import { JsonObject } from './json.js';
import { Observed } from './result.js';
import { Run, StepStatus } from './run.js';
import { LogCheckpoint, Mismatch, Seal } from './seal.js';

export const REPORT_VERSION = '1.0';

const ReportHold = z.object({
  hold_id: z.string(),
  status: z.string(),
  decided_by: z.string().nullable(),
  decided_at: z.string().nullable(),
  /** The submitted inputs, if somebody changed them. The step's own hash is that of the inputs that ran. */
  original_inputs: z.unknown(),
  original_input_hash: Hash.nullable(),
  approved_input_hash: Hash.nullable(),
  entries: z.array(
    z.object({
      at: z.string(),
      actor: z.string(),
      kind: z.string(),
      comment: z.string().nullable(),
      input_hash: Hash.nullable().describe('The hash of the inputs that were voted on, or created by an edit'),
      previous_input_hash: Hash.nullable().describe('For an edit: the hash of the previous inputs'),
      changed: z.array(z.string()).nullable().describe('For an edit: the changed members of the inputs'),
    }),
  ),
});

export const ReportStep = z.object({
  index: z.int(),
  step_id: z.string(),
  tool_id: z.string(),
  status: StepStatus,
  reason: z.string().nullable(),
  invocation_id: z.string().nullable(),
  reused_from: z.string().nullable().describe('The run whose result it reuses; null if it was executed in this run'),
  decision: Decision.pick({ effect: true, reason: true, rule_matched: true, code: true }).nullable(),
  created_at: z.iso.datetime().nullable(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  duration_ms: z.number().nullable(),
  attempts: z.array(Attempt),
  inputs: z.unknown(),
  input_hash: Hash.nullable(),
  output: z.unknown(),
  output_hash: Hash.nullable(),
  chain_hash: Hash.nullable(),
  error: z.string().nullable(),
  exit_code: z.int().nullable(),
  declared_side_effects: z.array(z.string()),
  observed: Observed.nullable(),
  sandbox: z.string().nullable(),
  hold: ReportHold.nullable(),
});
export type ReportStep = z.infer<typeof ReportStep>;

export const ReportSummary = z.object({
  total_duration_ms: z.number(),
  total_steps: z.int(),
  completed_steps: z.int(),
  denied_steps: z.int(),
  failed_steps: z.int(),
  canceled_steps: z.int(),
  skipped_steps: z.int(),
  held_steps: z.int(),
  attempts: z.int(),
  holds: z.int(),
  files_read: z.array(z.string()),
  files_written: z.array(z.string()),
  domains_contacted: z.array(z.string()),
  processes: z.int(),
  resources: z
    .object({
      files_read: z.array(z.string()),
      files_written: z.array(z.string()),
      domains_contacted: z.array(z.string()),
      processes: z.int(),
    })
    .describe('The same four, as Capsule groups them'),
  cost_units: z.number(),
  tools: z.record(z.string(), z.int()),
  workers: z.array(z.string()),
});
export type ReportSummary = z.infer<typeof ReportSummary>;

export const Report = z.object({
  report_version: z.literal(REPORT_VERSION),
  generated_at: z.iso.datetime(),
  run: Run,
  plan: JsonObject.nullable(),
  inputs: JsonObject.nullable(),
  policy: z.object({ policy_hash: Hash, document: z.unknown() }).nullable(),
  steps: z.array(ReportStep),
  steps_omitted: z.int().describe('Steps that are not listed; the summary counts all'),
  summary: ReportSummary,
  verification: z
    .object({
      ok: z.boolean(),
      checked: z.int(),
      mismatches: z.array(Mismatch),
      more: z.int(),
      removed: z.int().describe('Results that retention removed; their hashes are verified'),
      checkpoint: LogCheckpoint.nullable(),
      seal: Seal.nullable(),
    })
    .nullable()
    .describe('Null until the run has ended'),
});
export type Report = z.infer<typeof Report>;
