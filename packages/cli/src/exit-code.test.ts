import { TERMINAL_STATUSES } from '@capstan/contracts';
import { describe, expect, it } from 'vitest';
import { EXIT, exitCodeOf, exitCodeOfProblem, gravest } from './exit-code.js';

describe('an exit code', () => {
  it('is 0 for succeeded and for no other terminal status', () => {
    expect(TERMINAL_STATUSES.filter((status) => exitCodeOf(status) === 0)).toEqual(['succeeded']);
  });

  it('tells failed, denied, held and timed out apart', () => {
    expect([exitCodeOf('failed'), exitCodeOf('denied'), exitCodeOf('held'), exitCodeOf('timed_out')]).toEqual([
      1, 3, 4, 5,
    ]);
  });

  it('is 5 for an invocation that has not ended', () => {
    expect([exitCodeOf('queued'), exitCodeOf('running'), exitCodeOf('deferred')]).toEqual([5, 5, 5]);
  });

  it('follows the problem of the gateway', () => {
    expect([403, 429, 401, 400, 422, 404, 409, 500, 504].map(exitCodeOfProblem)).toEqual([3, 3, 3, 2, 2, 1, 1, 1, 5]);
  });

  it('is the most serious one of many', () => {
    expect(gravest(new Set([EXIT.success, EXIT.held, EXIT.denied, EXIT.failed]))).toBe(1);
    expect(gravest(new Set([EXIT.success, EXIT.held]))).toBe(4);
    expect(gravest(new Set())).toBe(0);
  });
});
