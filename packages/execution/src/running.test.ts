import { describe, expect, test } from 'vitest';
import { Running } from './running.js';
import { newClaimed } from './testing/new-claimed.js';

describe('a running invocation', () => {
  test('is stopped for the first reason given, and its runner is notified', () => {
    const running = new Running(newClaimed());
    const { signal } = running;
    expect(signal.aborted).toBe(false);
    running.stop('timeout');
    running.stop('cancel');
    expect([running.stopped, signal.aborted, signal.reason]).toEqual(['timeout', true, 'timeout']);
  });

  test('that was stopped before its runner asked for the signal gives it an aborted one', () => {
    const running = new Running(newClaimed());
    running.stop('lost');
    expect([running.signal.aborted, running.signal.reason]).toEqual([true, 'lost']);
  });

  test('returns the same signal each time', () => {
    const running = new Running(newClaimed());
    expect(running.signal).toBe(running.signal);
  });

  test('calls each listener once when it is stopped, even one added afterwards', () => {
    const told: string[] = [];
    const before = new Running(newClaimed());
    before.onStop(() => told.push('before'));
    before.stop('cancel');
    before.stop('cancel');
    const after = new Running(newClaimed());
    after.stop('cancel');
    after.onStop(() => told.push('after'));
    expect(told).toEqual(['before', 'after']);
  });
});
