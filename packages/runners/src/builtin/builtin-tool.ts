import type { JsonObject } from '@capstan/contracts';
import type { RunOutcome, ToolFailure } from '../runner.js';

/** A tool that needs nothing but its inputs. It answers at once: no promise, no I/O. */
export type BuiltinTool = (inputs: JsonObject) => RunOutcome;

export const invalidInputs = (error: string): ToolFailure => ({
  success: false,
  error,
  kind: 'INVALID_INPUTS',
  retryable: false,
});
