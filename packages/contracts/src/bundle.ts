import { z } from 'zod';
import { Hash } from './hash.js';

/** A run of another installation, as it was handed over and checked. */
export const ImportedBundle = z.object({
  bundle_id: z.string(),
  run_id: z.string().describe('Its id where it ran'),
  kind: z.string(),
  count: z.int(),
  seal_hash: Hash.describe('Of the seal; of a bundle with a checkpoint, the root of the log'),
  imported_by: z.string(),
  created_at: z.iso.datetime(),
});
export type ImportedBundle = z.infer<typeof ImportedBundle>;

export const ReplayRequest = z
  .strictObject({
    plan_hash: Hash.optional().describe('Refused unless the run is of this plan'),
    re_execute: z
      .boolean()
      .default(false)
      .describe('Runs again what is idempotent and changes nothing, and holds the rest; /differences compares'),
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
    message: 're_execute makes all calls again, from executes from a step on: ask for one of them',
  });
export type ReplayRequest = z.infer<typeof ReplayRequest>;
export type ReplayRequestInput = z.input<typeof ReplayRequest>;

export const ReplayAnswer = z.object({
  run_id: z.string(),
  mode: z.enum(['replay', 'execution']).describe('execution: with re_execute or from'),
  replay_of: z.string(),
  plan_hash: Hash.nullable(),
  total_steps: z.int(),
  reused_steps: z.int().optional().describe('With from: how many of them have the stored result'),
});
export type ReplayAnswer = z.infer<typeof ReplayAnswer>;

/** How a call that was executed again compares with the record. */
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

/** The label by which a call that is executed again names the one on record. */
export const RECORDED_LABEL = 'capstan.replay_of';
/** And the step of a plan that it was. */
export const RECORDED_STEP_LABEL = 'capstan.replay_step';
