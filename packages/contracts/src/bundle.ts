import { z } from 'zod';
import { Hash } from './hash.js';

/** An imported and verified run of another installation. */
export const ImportedBundle = z.object({
  bundle_id: z.string(),
  run_id: z.string().describe('The id in the installation where it ran'),
  kind: z.string(),
  count: z.int(),
  seal_hash: Hash.describe('The hash of the seal or, for a bundle with a checkpoint, the root of the log'),
  imported_by: z.string(),
  created_at: z.iso.datetime(),
});
export type ImportedBundle = z.infer<typeof ImportedBundle>;

export const ReplayRequest = z
  .strictObject({
    plan_hash: Hash.optional().describe('Refuse unless the run belongs to this plan'),
    re_execute: z
      .boolean()
      .default(false)
      .describe('Re-executes calls that are idempotent and change nothing, and holds the others; see /differences'),
    from: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe(
        'The id of a step: it and all that follows from it are executed, with the stored results of the others',
      ),
  })
  .refine(({ re_execute, from }) => !re_execute || from === undefined, {
    path: ['from'],
    message: 're_execute repeats all calls and from starts at a step: give only one of them',
  });
export type ReplayRequest = z.infer<typeof ReplayRequest>;
export type ReplayRequestInput = z.input<typeof ReplayRequest>;

export const ReplayAnswer = z.object({
  run_id: z.string(),
  mode: z.enum(['replay', 'execution']).describe('execution: with re_execute or from'),
  replay_of: z.string(),
  plan_hash: Hash.nullable(),
  total_steps: z.int(),
  reused_steps: z.int().optional().describe('With from: how many steps reuse a stored result'),
});
export type ReplayAnswer = z.infer<typeof ReplayAnswer>;

/** How a re-executed call compares with the record. */
export const StepDifference = z.object({
  invocation_id: z.string(),
  recorded_invocation_id: z.string(),
  tool_id: z.string(),
  status: z.string(),
  outcome: z.enum(['same', 'differs', 'not_executed']),
  recorded_output_hash: Hash.nullable(),
  output_hash: Hash.nullable(),
  differences: z
    .array(z.object({ path: z.string(), recorded: z.unknown(), now: z.unknown() }))
    .describe('The first ones, as JSON pointers'),
});
export type StepDifference = z.infer<typeof StepDifference>;

/** The label with which a re-executed call names the recorded one. */
export const RECORDED_LABEL = 'capstan.replay_of';
/** The label with the recorded step of the plan. */
export const RECORDED_STEP_LABEL = 'capstan.replay_step';
