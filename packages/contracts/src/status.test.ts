import { describe, expect, test } from 'vitest';
import { canMove, InvocationStatus, isTerminal, statusesBefore, TERMINAL_STATUSES } from './status.js';

const statuses = InvocationStatus.options;
const after = (from: InvocationStatus) => statuses.filter((to) => canMove(from, to));
/** The statuses that admission can assign. */
const FIRST: InvocationStatus[] = ['denied', 'held', 'deferred', 'queued'];

describe('the transition table', () => {
  test('lets every status be reached from a submission', () => {
    const reached = new Set(FIRST);
    for (const status of reached) for (const next of after(status)) reached.add(next);
    expect([...reached].sort()).toEqual([...statuses].sort());
  });

  test('leaves a terminal status only by queueing again, and an ambiguous one also by being resolved', () => {
    const left = Object.fromEntries(TERMINAL_STATUSES.map((status) => [status, after(status)]));
    expect(left).toEqual({
      denied: [],
      succeeded: [],
      failed: ['deferred', 'queued'],
      timed_out: ['deferred', 'queued'],
      canceled: [],
      ambiguous: ['deferred', 'queued', 'succeeded', 'failed'],
      rejected: [],
      expired: [],
    });
  });

  test('lets every live status be canceled, and every waiting one expire', () => {
    expect(statusesBefore('canceled')).toEqual(statuses.filter((status) => !isTerminal(status)));
    expect(statusesBefore('expired')).toEqual(['held', 'deferred', 'queued']);
  });

  test('lets only queued calls start', () => {
    expect(statusesBefore('running')).toEqual(['queued']);
  });

  test('has no transition from a status to itself', () => {
    expect(statuses.filter((status) => canMove(status, status))).toEqual([]);
  });

  test('has a path to a terminal status from every status', () => {
    const ends = (status: InvocationStatus, seen: InvocationStatus[] = []): boolean =>
      isTerminal(status) || after(status).some((next) => !seen.includes(next) && ends(next, [...seen, status]));
    expect(statuses.filter((status) => !ends(status))).toEqual([]);
  });
});

test('statusesBefore and canMove agree', () => {
  for (const to of statuses)
    expect(statusesBefore(to), to).toEqual(statuses.filter((from) => after(from).includes(to)));
});

test('a status is terminal or live, never both', () => {
  expect(statuses.filter((status) => !isTerminal(status))).toEqual(['held', 'deferred', 'queued', 'running']);
  expect(statuses.filter(isTerminal).sort()).toEqual([...TERMINAL_STATUSES].sort());
});
