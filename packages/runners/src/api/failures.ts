import { Failure, issueText } from '@capstan/contracts';
import type { z } from 'zod';
import type { ToolFailure } from '../runner.js';

export const invalid = (error: string): ToolFailure => ({
  success: false,
  error,
  kind: 'INVALID_INPUTS',
  retryable: false,
});

/** Repeats the checks of admission, because this is the last place before a request is sent. */
export const invalidInputs = (error: z.ZodError): ToolFailure =>
  invalid(error.issues.map((issue) => `${issue.path.join('.') || 'inputs'}: ${issueText(issue)}`).join('; '));

/** A Failure is an outcome; anything else is a fault of the runner. */
export function toOutcome(error: unknown, retryable?: boolean): ToolFailure {
  if (!(error instanceof Failure)) throw error;
  const { message, kind, context } = error;
  const rule = typeof context.rule === 'string' ? { rule: context.rule } : {};
  return { success: false, error: message, kind, retryable: retryable ?? error.retryable, ...rule };
}
