import { describe, expect, test } from 'vitest';
import { codeOf, Failure, type FailureName, toProblem } from './failure.js';

/** The thousand of each failure's code. The type makes this list complete. */
const AREAS: Record<FailureName, number> = {
  POLICY_DENIED: 1,
  POLICY_INVALID: 1,
  POLICY_CHANGED: 1,
  EGRESS_DENIED: 1,
  SHELL_NOT_GRANTED: 1,
  PATH_DENIED: 1,
  WRITE_NOT_GRANTED: 1,
  ARGUMENTS_NOT_ALLOWED: 1,
  SECRET_NOT_GRANTED: 1,
  UNKNOWN_TOOL: 2,
  INVALID_INPUTS: 2,
  TOOL_ERROR: 2,
  TOOL_TIMEOUT: 2,
  EXECUTABLE_NOT_FOUND: 2,
  WORKER_LOST: 2,
  CANCELED: 2,
  RUNNER_FAILED: 2,
  OUTCOME_UNKNOWN: 2,
  SANDBOX_UNAVAILABLE: 2,
  INTERACTIVE_NOT_SUPPORTED: 2,
  TOOL_DISABLED: 2,
  OUTPUT_INVALID: 2,
  NOT_CONFIGURED: 2,
  EGRESS_FAILED: 2,
  MCP_SERVER_FAILED: 2,
  INPUT_REQUIRED: 2,
  MALFORMED_JSON: 3,
  INVALID_REQUEST: 3,
  BODY_TOO_LARGE: 3,
  NOT_FOUND: 3,
  ILLEGAL_STATE: 3,
  IDEMPOTENCY_CONFLICT: 3,
  UNSUPPORTED_MEDIA_TYPE: 3,
  NO_SUCH_ROUTE: 3,
  EXPIRED: 3,
  PLAN_INVALID: 3,
  HEADERS_TOO_LARGE: 3,
  REQUEST_TIMEOUT: 3,
  METHOD_NOT_ALLOWED: 3,
  PRECONDITION_FAILED: 3,
  RUN_NOT_OVER: 4,
  PLAN_MISMATCH: 4,
  RECORD_BROKEN: 4,
  BUNDLE_INVALID: 4,
  NO_SUCH_STEP: 4,
  STORAGE_UNAVAILABLE: 5,
  INTERNAL: 5,
  OVERLOADED: 5,
  STORAGE_REFUSED: 5,
  UNAUTHENTICATED: 6,
  ROLE_MISSING: 6,
  TENANT_FORBIDDEN: 6,
  CALLER_REFUSED: 6,
  QUOTA_EXCEEDED: 7,
};
const isName = (name: string): name is FailureName => name in AREAS;
const names = Object.keys(AREAS).filter(isName);

test('no two failures share a code', () => {
  expect(new Set(names.map(codeOf)).size).toBe(names.length);
});

describe.each(names)('%s', (name) => {
  const failure = new Failure(name, { detail: 'why' });

  test('has a code in the thousand of its area', () => {
    expect(Math.floor(failure.code / 1000)).toBe(AREAS[name]);
    expect(codeOf(name)).toBe(failure.code);
  });

  test('maps to an HTTP error and has a suggestion that is a sentence', () => {
    expect(failure.status).toBeGreaterThanOrEqual(400);
    expect(failure.status).toBeLessThan(600);
    expect(failure.suggestion).toMatch(/^.{15,}\.$/);
  });
});

test('a failure can override its suggestion and whether it is retryable', () => {
  const cause = new Error('root');
  const failure = new Failure('TOOL_ERROR', { detail: 'why', suggestion: 'Do this.', retryable: true, cause });
  expect(failure).toMatchObject({ message: 'why', kind: 'TOOL_ERROR', retryable: true, suggestion: 'Do this.', cause });
  expect(failure).toBeInstanceOf(Error);
});

test('a problem document cannot be overwritten by its context', () => {
  const context = { status: 200, code: 0, type: 'x', detail: 'x', invocation_id: 'inv_1' };
  expect(toProblem(new Failure('QUOTA_EXCEEDED', { detail: 'too many', context }))).toEqual({
    type: 'urn:capstan:problem:quota_exceeded',
    title: 'quota exceeded',
    status: 429,
    detail: 'too many',
    code: 7001,
    suggestion: 'Wait for Retry-After, or ask for a larger quota.',
    invocation_id: 'inv_1',
  });
});

test('a problem document names the first hundred of many errors', () => {
  const errors = Array.from({ length: 90_000 }, (_, at) => ({ field: `k${at}`, message: 'is not a known field' }));
  const problem = toProblem(
    new Failure('INVALID_REQUEST', { detail: 'k0: is not a known field', context: { errors } }),
  );
  expect(problem.errors).toEqual(errors.slice(0, 100));
});
