import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Take } from '../queue.js';
import type { Relay } from '../relay/relay.js';
import { consumePostgres } from './consume-postgres.js';

/** A queue of `waiting` runs that end when the test says so. */
function openConsumer({ concurrency = 2, waiting = 0, fails = false } = {}) {
  const state = { waiting, fails, asked: [] as number[] };
  const running: (() => void)[] = [];
  const listeners = new Set<(ids: string[]) => void>();
  const relay: Relay = {
    publish: () => {},
    riding: () => null,
    subscribe: (_topic, listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => Promise.resolve(),
  };
  const take: Take = async (limit) => {
    state.asked.push(limit);
    if (state.fails) throw new Error('Postgres is away');
    const taken = Math.min(limit, state.waiting);
    state.waiting -= taken;
    return Array.from({ length: taken }, () => new Promise<void>((resolve) => void running.push(resolve)));
  };
  const consumer = consumePostgres({ runner: 'exec', concurrency, lease_ms: 1000 }, take, relay);
  const call = (...runners: string[]) => {
    for (const listener of listeners) listener(runners);
  };
  /** Lets everything happen that needs no time to pass; an immediate that a timer asks for counts as 1 ms here. */
  const settle = () => vi.advanceTimersByTimeAsync(1);
  return { state, running, consumer, call, settle, listeners };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a consumer of the Postgres queue', () => {
  test('looks for work at once, and not again until it is called', async () => {
    const { state, call, settle } = openConsumer();
    await settle();
    expect(state.asked).toEqual([2]);
    call('exec');
    await settle();
    expect(state.asked).toEqual([2, 2]);
    call('builtin');
    await settle();
    expect(state.asked).toEqual([2, 2]);
  });

  test('asks for no more than it has room for, and for more when room appears', async () => {
    const { state, running, consumer, settle } = openConsumer({ waiting: 5 });
    await settle();
    expect([state.asked, running.length, consumer.hasRoom()]).toEqual([[2], 2, false]);
    running.shift()?.();
    await settle();
    expect([state.asked, running.length]).toEqual([[2, 1], 2]);
  });

  test('asks once for all the room that appears together', async () => {
    const { state, running, settle } = openConsumer({ concurrency: 3, waiting: 6 });
    await settle();
    for (const end of running.splice(0)) end();
    await settle();
    expect(state.asked).toEqual([3, 3]);
  });

  test('hears a call that comes while it claims', async () => {
    const { state, call, settle } = openConsumer();
    state.waiting = 0;
    call('exec');
    state.waiting = 1;
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('finds by its sweep what no call told it of', async () => {
    const { state, settle } = openConsumer();
    await settle();
    state.waiting = 1;
    await vi.advanceTimersByTimeAsync(6000);
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('tries again after a claim that failed', async () => {
    const { state, settle } = openConsumer({ waiting: 1, fails: true });
    await settle();
    state.fails = false;
    await vi.advanceTimersByTimeAsync(2000);
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('takes nothing while it is paused, and goes on when it is resumed', async () => {
    const { state, consumer, call, settle } = openConsumer();
    await settle();
    consumer.pause();
    state.waiting = 1;
    call('exec');
    await vi.advanceTimersByTimeAsync(10_000);
    expect([state.waiting, consumer.hasRoom()]).toEqual([1, false]);
    consumer.resume();
    await settle();
    expect([state.waiting, consumer.hasRoom()]).toEqual([0, true]);
  });

  test('takes nothing after it was stopped, and leaves no timer or listener behind', async () => {
    const { state, running, consumer, listeners, settle } = openConsumer({ waiting: 3 });
    await settle();
    await consumer.stop();
    running.shift()?.();
    consumer.resume();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([state.waiting, listeners.size, vi.getTimerCount()]).toEqual([1, 0, 0]);
  });
});
