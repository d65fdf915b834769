import type { JsonObject } from '@capstan/contracts';
import type { Call, RunOutcome, ToolFailure } from '../runner.js';

/** A tool inside the worker. If it needs only its inputs, it returns synchronously, without a promise or I/O. */
export type BuiltinTool = (
  inputs: JsonObject,
  call: Pick<Call, 'session' | 'limits' | 'redact'>,
) => RunOutcome | Promise<RunOutcome>;

export const invalidInputs = (error: string): ToolFailure => ({
  success: false,
  error,
  kind: 'INVALID_INPUTS',
  retryable: false,
});

export const toolError = (error: string): ToolFailure => ({
  success: false,
  error,
  kind: 'TOOL_ERROR',
  retryable: false,
});

export const NO_SESSION = invalidInputs(
  'this tool keeps what it writes with a session: submit it with a session_id, or capstan invoke --session <id>',
);
