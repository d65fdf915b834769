import { z } from 'zod';
import { type Json, JsonObject } from './json.js';
import { DAY_MS } from './time.js';

export const MAX_STEPS = 10_000;
/** The largest fan-out. A list returned by a tool must not become a million calls. */
export const MAX_ELEMENTS = 10_000;

const Value = z.custom<Json>((value) => value !== undefined, 'expected a value');
const StepId = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, 'letters, digits, dot, dash and underscore, at most 128');

/** An input of a plan, in JSON Schema terms. Without a default it is required, unless `required` is false. */
export const PlanInput = z.strictObject({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array', 'object']).optional(),
  description: z.string().max(4096).optional(),
  default: Value.optional(),
  enum: z.array(Value).min(1).max(1000).optional(),
  required: z.union([z.boolean(), z.array(z.string()).max(1000)]).optional(),
  items: JsonObject.optional(),
  properties: z.record(z.string(), JsonObject).optional(),
  additionalProperties: z.boolean().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.int().nonnegative().optional(),
  maxLength: z.int().nonnegative().optional(),
  minItems: z.int().nonnegative().optional(),
  maxItems: z.int().nonnegative().optional(),
});
export type PlanInput = z.infer<typeof PlanInput>;

export const Retry = z.strictObject({
  max_attempts: z.int().min(1).max(100),
  backoff_ms: z
    .int()
    .min(0)
    .max(DAY_MS)
    .optional()
    .describe('The delay before the second attempt; it doubles with each. 500 by default'),
});
export type Retry = z.infer<typeof Retry>;

/** `${{ }}` in `args`, `when` and `for_each` is CEL over inputs, steps, item and index. */
export const PlanStep = z.strictObject({
  id: StepId.optional().describe('step_1, step_2 … by default'),
  tool: z.string().min(1).max(512),
  name: z.string().max(255).optional(),
  description: z.string().max(4096).optional(),
  args: JsonObject.optional(),
  needs: z
    .union([StepId, z.array(StepId).max(MAX_STEPS)])
    .optional()
    .describe('The steps that must end first; by default the previous step'),
  when: z
    .union([z.string().max(16_384), z.boolean()], 'expected an expression, true or false')
    .optional()
    .describe('The step is skipped unless this is true'),
  for_each: z
    .union([z.string().max(16_384), z.array(Value).max(MAX_ELEMENTS)], 'expected an expression or a list')
    .optional()
    .describe('Runs the step once for each element, with item and index'),
  retry: Retry.optional(),
  timeout_ms: z.int().min(1).max(DAY_MS).optional(),
  on_error: z.enum(['stop', 'continue']).optional(),
});
export type PlanStep = z.infer<typeof PlanStep>;

/** Stored as sent, so that the hash is that of the author's document. */
export const Plan = z.strictObject({
  version: z.literal('1.0').optional(),
  name: z.string().max(255).optional(),
  description: z.string().max(4096).optional(),
  inputs: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'letters, digits and underscore'), PlanInput)
    .optional(),
  max_parallel: z.int().min(1).max(MAX_ELEMENTS).optional(),
  steps: z.array(PlanStep).min(1).max(MAX_STEPS),
});
export type Plan = z.infer<typeof Plan>;
