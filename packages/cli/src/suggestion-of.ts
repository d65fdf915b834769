import type { FailureName } from '@capstan/contracts';

/** The failures that a result can carry. */
const IN_RESULTS = [
  'POLICY_DENIED',
  'POLICY_CHANGED',
  'EGRESS_DENIED',
  'SHELL_NOT_GRANTED',
  'PATH_DENIED',
  'WRITE_NOT_GRANTED',
  'ARGUMENTS_NOT_ALLOWED',
  'SECRET_NOT_GRANTED',
  'INVALID_INPUTS',
  'TOOL_ERROR',
  'TOOL_TIMEOUT',
  'EXECUTABLE_NOT_FOUND',
  'WORKER_LOST',
  'CANCELED',
  'RUNNER_FAILED',
  'OUTCOME_UNKNOWN',
  'EGRESS_FAILED',
  'MCP_SERVER_FAILED',
  'SANDBOX_UNAVAILABLE',
  'INTERACTIVE_NOT_SUPPORTED',
  'STORAGE_UNAVAILABLE',
  'EXPIRED',
  'STORAGE_REFUSED',
  'QUOTA_EXCEEDED',
] as const satisfies readonly FailureName[];

/** The suggestion for an error code. The contracts are loaded only here, after a failure. */
export const suggestionOf = async (code: number): Promise<string | null> => {
  const { codeOf, Failure } = await import('@capstan/contracts');
  const name = IN_RESULTS.find((each) => codeOf(each) === code);
  return name === undefined ? null : new Failure(name, { detail: '' }).suggestion;
};
