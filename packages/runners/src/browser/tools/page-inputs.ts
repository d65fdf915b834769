import { Failure, type JsonObject } from '@capstan/contracts';
import { z } from 'zod';

export const WaitUntil = z.enum(['load', 'domcontentloaded', 'networkidle', 'commit']);

/** What every tool that opens a page takes. */
export const PAGE_INPUTS = {
  url: z.string().min(1),
  wait_until: WaitUntil.default('load'),
  wait_for: z.string().min(1).optional(),
  timeout_ms: z.int().positive().optional(),
  viewport: z.strictObject({ width: z.int().min(16).max(4096), height: z.int().min(16).max(4096) }).optional(),
};
const PageInputs = z.object(PAGE_INPUTS);
export type PageInputs = z.infer<typeof PageInputs>;

/** Checked here again, whatever admission checked. */
export function parseInputs<T>(schema: z.ZodType<T>, inputs: JsonObject): T {
  const parsed = schema.safeParse(inputs);
  if (parsed.success) return parsed.data;
  const detail = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'inputs'}: ${message}`).join('; ');
  throw new Failure('INVALID_INPUTS', { detail });
}
