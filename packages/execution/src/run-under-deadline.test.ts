import type { RunOutcome } from '@capstan/runners';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runUnderDeadline } from './pipeline.js';
import { Running } from './running.js';
import { newClaimed } from './testing/new-claimed.js';

const done: RunOutcome = { success: true, payload: 3 };
const stopped: RunOutcome = { success: false, error: 'stopped', kind: 'TOOL_ERROR', retryable: false };
const never = () => new Promise<RunOutcome>(() => {});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a run under a deadline', () => {
  test('that returns synchronously costs no timer', async () => {
    const running = new Running(newClaimed());
    const outcome = runUnderDeadline(running, 1000, () => done);
    expect(vi.getTimerCount()).toBe(0);
    expect(await outcome).toBe(done);
  });

  test('that ends in time leaves no timer behind', async () => {
    const running = new Running(newClaimed());
    expect(await runUnderDeadline(running, 1000, () => Promise.resolve(done))).toBe(done);
    expect([vi.getTimerCount(), running.stopped]).toEqual([0, null]);
  });

  test('has its full time, however long it waited since its claim', async () => {
    const running = new Running(newClaimed());
    await vi.advanceTimersByTimeAsync(60_000);
    const outcome = runUnderDeadline(running, 1000, () => new Promise((resolve) => setTimeout(resolve, 900, done)));
    await vi.advanceTimersByTimeAsync(900);
    expect([await outcome, running.stopped]).toEqual([done, null]);
  });

  test('is told to stop when the deadline has passed, and not before', async () => {
    const running = new Running(newClaimed());
    const { signal } = running;
    const outcome = runUnderDeadline(
      running,
      1000,
      () => new Promise((resolve) => signal.addEventListener('abort', () => resolve(stopped))),
    );
    await vi.advanceTimersByTimeAsync(999);
    expect(signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toBe(stopped);
    expect([running.stopped, vi.getTimerCount()]).toEqual(['timeout', 0]);
  });

  test.each(['timeout', 'cancel', 'shutdown', 'lost'] as const)(
    'that does not come back after a %s is given up after a grace period',
    async (reason) => {
      const running = new Running(newClaimed());
      const outcome = runUnderDeadline(running, 60_000, never);
      running.stop(reason);
      await vi.advanceTimersByTimeAsync(5000);
      expect(await outcome).toBeNull();
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('that was told to stop before it started is also abandoned after the grace period', async () => {
    const running = new Running(newClaimed());
    running.stop('cancel');
    const outcome = runUnderDeadline(running, 60_000, never);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcome).toBeNull();
  });

  test('that throws, synchronously or later, rejects and leaves no timer behind', async () => {
    const fault = new Error('the runner broke');
    const now = () => {
      throw fault;
    };
    for (const run of [now, () => Promise.reject(fault)])
      await expect(runUnderDeadline(new Running(newClaimed()), 1000, run)).rejects.toBe(fault);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that fails after it was abandoned causes no unhandled rejection', async () => {
    const running = new Running(newClaimed());
    let fail: (error: Error) => void = () => {};
    const run = () =>
      new Promise<RunOutcome>((_, reject) => {
        fail = reject;
      });
    const outcome = runUnderDeadline(running, 1, run);
    await vi.advanceTimersByTimeAsync(5001);
    expect(await outcome).toBeNull();
    fail(new Error('too late'));
    await vi.advanceTimersByTimeAsync(0);
  });
});
