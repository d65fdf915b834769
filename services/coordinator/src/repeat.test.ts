import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { repeat } from './repeat.js';

const silent = pino({ level: 'silent' });
const PAUSE_MS = 1000;

/** A duty whose turns end when the test says so. */
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
  test('is done at once, and again after its pause', async () => {
    const { turns, end } = startDuty();
    expect(turns).toHaveLength(1);
    await end(0);
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(turns).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('is done again at once while it finds work', async () => {
    const { turns, end } = startDuty();
    await end(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('is done at once when it is woken', async () => {
    const { turns, end, repeated } = startDuty();
    await end(0);
    repeated.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(turns).toHaveLength(2);
  });

  test('woken during its turn is done again after it, once', async () => {
    const { turns, end, repeated } = startDuty();
    repeated.wake();
    repeated.wake();
    await end(0);
    expect(turns).toHaveLength(2);
    await end(0);
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(turns).toHaveLength(2);
  });

  test('is never done twice at a time', async () => {
    const { turns, repeated } = startDuty();
    repeated.wake();
    await vi.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(turns).toHaveLength(1);
  });

  test('that fails is tried again after a second', async () => {
    const { turns } = startDuty();
    turns[0]?.fail(new Error('Postgres is away'));
    await vi.advanceTimersByTimeAsync(999);
    expect(turns).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toHaveLength(2);
  });

  test('whose pause cannot be told is tried again after a second', async () => {
    let turns = 0;
    const duty = () => Promise.resolve(turns++ && 0);
    repeat(silent, 'duty', duty, () => Promise.reject(new Error('Postgres is away')));
    await vi.advanceTimersByTimeAsync(1000);
    expect(turns).toBe(2);
  });

  test('is stopped after the turn under way, and not begun again', async () => {
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

  test('is stopped at once while it rests, and leaves no timer behind', async () => {
    const { turns, end, repeated } = startDuty();
    await end(0);
    await repeated.stop();
    expect([turns.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});
