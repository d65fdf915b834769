import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { repeat } from './repeat.js';

const silent = pino({ level: 'silent' });
const PAUSE_MS = 1000;

/** A duty whose turns end on command of the test. */
function startDuty() {
  const turns: { end(found: number): void; fail(error: Error): void }[] = [];
  const duty = () => new Promise<number>((resolve, reject) => void turns.push({ end: resolve, fail: reject }));
  const repeated = repeat(silent, 'duty', duty, () => Promise.resolve(PAUSE_MS));
  const end = async (found: number) => {
    turns.at(-1)?.end(found);
    await vi.advanceTimersByTimeAsync(0);
  };
  return { turns, end, repeated };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a duty', () => {
  test('runs at once, and again after its pause', async () => {
    const { turns, end } = startDuty();
    expect(turns).toHaveLength(1);
    await end(0);
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(turns).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('runs again at once while it finds work', async () => {
    const { turns, end } = startDuty();
    await end(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('runs at once when woken', async () => {
    const { turns, end, repeated } = startDuty();
    await end(0);
    repeated.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(turns).toHaveLength(2);
  });

  test('woken several times during an iteration runs once more after it', async () => {
    const { turns, end, repeated } = startDuty();
    repeated.wake();
    repeated.wake();
    await end(0);
    expect(turns).toHaveLength(2);
    await end(0);
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(turns).toHaveLength(2);
  });

  test('never runs twice at the same time', async () => {
    const { turns, repeated } = startDuty();
    repeated.wake();
    await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(turns).toHaveLength(1);
  });

  test('that fails is retried after a second', async () => {
    const { turns } = startDuty();
    turns[0]?.fail(new Error('Postgres is away'));
    await vi.advanceTimersByTimeAsync(999);
    expect(turns).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('whose pause cannot be determined is retried after a second', async () => {
    let turns = 0;
    const duty = () => Promise.resolve(turns++ && 0);
    repeat(silent, 'duty', duty, () => Promise.reject(new Error('Postgres is away')));
    await vi.advanceTimersByTimeAsync(1000);
    expect(turns).toBe(2);
  });

  test('finishes its current iteration when stopped, and does not run again', async () => {
    const { turns, end, repeated } = startDuty();
    let stopped = false;
    const stopping = repeated.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(stopped).toBe(false);
    await end(5);
    await stopping;
    repeated.wake();
    await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(turns).toHaveLength(1);
  });

  test('stops at once while it pauses, and leaves no timer behind', async () => {
    const { turns, end, repeated } = startDuty();
    await end(0);
    await repeated.stop();
    expect([turns.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
