import { Failure, type FailureName, type Invocation, type InvocationStatus, toProblem } from '@capstan/contracts';
import { describe, expect, it, test } from 'vitest';
import * as client from './index.js';

const { CapstanError, errorOfInvocation, errorOfProblem } = client;

describe('a problem document becomes', () => {
  test.each([
    ['POLICY_DENIED', client.Denied],
    ['EGRESS_DENIED', client.Denied],
    ['TOOL_DISABLED', client.Denied],
    ['TOOL_ERROR', client.Failed],
    ['RUNNER_FAILED', client.Failed],
    ['TOOL_TIMEOUT', client.TimedOut],
    ['EXPIRED', client.TimedOut],
    ['OUTCOME_UNKNOWN', client.Ambiguous],
    ['CANCELED', client.Canceled],
    ['INVALID_INPUTS', client.Invalid],
    ['INVALID_REQUEST', client.Invalid],
    ['BODY_TOO_LARGE', client.Invalid],
    ['UNKNOWN_TOOL', client.NotFound],
    ['NOT_FOUND', client.NotFound],
    ['IDEMPOTENCY_CONFLICT', client.Conflict],
    ['UNAUTHENTICATED', client.Unauthorized],
    ['ROLE_MISSING', client.Unauthorized],
    ['QUOTA_EXCEEDED', client.QuotaExceeded],
    ['STORAGE_UNAVAILABLE', client.Unavailable],
    ['INTERNAL', client.Unavailable],
  ] satisfies [FailureName, unknown][])('%s: its own class, with code, status and suggestion', (kind, type) => {
    const problem = toProblem(new Failure(kind, { detail: 'why', context: { invocation_id: 'inv_1' } }));
    const error = errorOfProblem(problem, { retry_after_s: 3 });
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(CapstanError);
    expect(error).toMatchObject({ message: 'why', retry_after_s: 3, invocation_id: 'inv_1', problem });
    expect([error.code, error.status, error.suggestion]).toEqual([problem.code, problem.status, problem.suggestion]);
    expect(error.name).toBe(error.constructor.name);
  });
});

describe('an invocation that has no payload to give becomes', () => {
  const invocation = (status: InvocationStatus, more: Partial<Invocation> = {}): Invocation => {
    const decision = { reason: 'too much money', rule_matched: 'big-refunds' };
    return {
      invocation_id: 'inv_1',
      tool_id: 'ext:a:b',
      hold_id: null,
      result: null,
      status,
      decision,
      ...more,
    } as Invocation;
  };

  test.each([
    ['denied', client.Denied],
    ['rejected', client.Denied],
    ['held', client.Held],
    ['failed', client.Failed],
    ['timed_out', client.TimedOut],
    ['expired', client.TimedOut],
    ['queued', client.TimedOut],
    ['canceled', client.Canceled],
    ['ambiguous', client.Ambiguous],
  ] satisfies [InvocationStatus, unknown][])('%s: its own class, with the invocation', (status, type) => {
    const error = errorOfInvocation(invocation(status));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ invocation_id: 'inv_1', invocation: { status } });
    expect(error?.suggestion).toContain('inv_1');
  });

  it('nothing when it succeeded', () => {
    expect(errorOfInvocation(invocation('succeeded'))).toBeNull();
  });

  it('Held with the hold and why, and Denied with the rule', () => {
    const held = errorOfInvocation(invocation('held', { hold_id: 'hld_1' }));
    expect(held).toMatchObject({ hold_id: 'hld_1', message: 'ext:a:b waits for a person: too much money' });
    expect(held?.suggestion).toContain('capstan release hld_1');
    expect(errorOfInvocation(invocation('denied'))).toMatchObject({ rule_matched: 'big-refunds' });
  });

  it("Failed with the tool's own error and code", () => {
    const result = { error: 'exit code 3', code: 2003 } as Invocation['result'];
    expect(errorOfInvocation(invocation('failed', { result }))).toMatchObject({
      message: 'ext:a:b failed: exit code 3',
      code: 2003,
    });
  });
});

it('an address that nobody listens at is Unavailable, and can be told from a refusal', () => {
  const error = new client.UnreachableError('http://127.0.0.1:1', Object.assign(new Error(), { code: 'ECONNREFUSED' }));
  expect(error).toBeInstanceOf(client.Unavailable);
  expect(error).toMatchObject({ code: 0, sent: false, retryable: true });
});
