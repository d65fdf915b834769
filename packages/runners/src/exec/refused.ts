import type { ToolFailure } from '../runner.js';

export const refused = (kind: ToolFailure['kind'], error: string): ToolFailure => ({
  success: false,
  error,
  kind,
  retryable: false,
});

export const invalid = (error: string): ToolFailure => refused('INVALID_INPUTS', error);
