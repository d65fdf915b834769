import { Failure, issueText, type JsonObject } from '@capstan/contracts';
import { z } from 'zod';

export const WaitUntil = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit']);

/** The inputs of every tool that opens a page. */
export const PAGE_INPUTS = {
  url: z.string().min(1),
  wait_until: WaitUntil.default('load'),
  wait_for: z.string().min(1).optional(),
  timeout_ms: z.int().positive().optional(),
  viewport: z.strictObject({ width: z.int().min(16).max(4096), height: z.int().min(16).max(4096) }).optional(),
};
const PageInputs = z.object(PAGE_INPUTS);
export type PageInputs = z.infer<typeof PageInputs>;

/** Repeats the checks of admission. */
export function parseInputs<T>(schema: z.ZodType<T>, inputs: JsonObject): T {
  const parsed = schema.safeParse(inputs);
  if (parsed.success) return parsed.data;
  const detail = parsed.error.issues
    .map((issue) => `${issue.path.join('.') || 'inputs'}: ${issueText(issue)}`)
    .join('; ');
  throw new Failure('INVALID_INPUTS', { detail });
}
