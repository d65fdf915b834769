import type { QueueName } from '@capstan/contracts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Start, WorkSource } from '../queue.js';
import { memoryRelay } from '../testing/memory-relay.js';
import { PostgresConsumer } from './postgres-consumer.js';

type Given = { runner?: QueueName; concurrency?: number; waiting?: number; fails?: boolean; holds?: boolean };

/** A queue of `waiting` calls that end on command of the test. `holds`: claims are answered on command, too. */
function openConsumer({ runner = 'exec', concurrency = 2, waiting = 0, fails = false, holds = false }: Given = {}) {
  const state = { waiting, fails, asked: [] as number[] };
  const running: (() => void)[] = [];
  const held: (() => void)[] = [];
  const start: Start = () => new Promise<void>((resolve) => void running.push(resolve));
  const work: WorkSource = {
    claim: async (limit) => {
      state.asked.push(limit);
      if (state.fails) throw new Error('Postgres is away');
      const taken = Math.min(limit, state.waiting);
      state.waiting -= taken;
      if (holds) await new Promise<void>((resolve) => held.push(resolve));
      return Array.from({ length: taken }, () => start);
    },
    own: () => Promise.reject(new Error('nothing is brought here')),
  };
  const relay = memoryRelay();
  const consumer = new PostgresConsumer({ runner, concurrency, lease_ms: 1000 }, work, relay);
  const call = (...runners: QueueName[]) => relay.say('ready', ...runners);
  /** Lets everything happen that needs no time to pass; an immediate that a timer asks for counts as 1 ms here. */
  const settle = () => vi.advanceTimersByTimeAsync(1);
  const give = (count: number) => consumer.run(Array.from({ length: count }, () => start));
  return { state, running, held, consumer, call, settle, give, relay };
}

/** The sweep comes every 5 s, give or take a fifth. */
const SWEEP_MS = 6000;
const RETRY_MS = 2000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a consumer of the Postgres queue', () => {
  test('claims when it starts, and not again until a signal arrives', async () => {
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

  test('claims as many calls as it has free slots, and more when slots become free', async () => {
    const { state, running, consumer, settle } = openConsumer({ waiting: 5 });
    await settle();
    expect([state.asked, running.length, consumer.hasRoom()]).toEqual([[2], 2, false]);
    running.shift()?.();
    await settle();
    expect([state.asked, running.length]).toEqual([[2, 1], 2]);
  });

  test('makes one claim for all slots that become free together', async () => {
    const { state, running, settle } = openConsumer({ concurrency: 3, waiting: 6 });
    await settle();
    for (const end of running.splice(0)) end();
    await settle();
    expect(state.asked).toEqual([3, 3]);
  });

  test('never claims more than 500 at once, however large it is', async () => {
    const { state, running, settle } = openConsumer({ concurrency: 1200, waiting: 5000 });
    await settle();
    await settle();
    expect([state.asked, running.length]).toEqual([[500, 500, 200], 1200]);
  });

  test('claims again if a signal arrives during a claim', async () => {
    const { state, call, settle } = openConsumer();
    state.waiting = 0;
    call('exec');
    state.waiting = 1;
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('finds work without a signal by its sweep', async () => {
    const { state, settle } = openConsumer();
    await settle();
    state.waiting = 1;
    await vi.advanceTimersByTimeAsync(SWEEP_MS);
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('claims again when it starts to listen, because it may have missed signals', async () => {
    const { state, relay, settle } = openConsumer();
    await settle();
    state.waiting = 1;
    relay.listen();
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('retries after a failed claim', async () => {
    const { state, settle } = openConsumer({ waiting: 1, fails: true });
    await settle();
    state.fails = false;
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    await settle();
    expect(state.waiting).toBe(0);
  });

  test('claims nothing while it is paused, and continues when it is resumed', async () => {
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

  test('claims nothing after it was stopped, and leaves no timer or listener behind', async () => {
    const { state, running, consumer, relay, settle } = openConsumer({ waiting: 3 });
    await settle();
    await consumer.stop();
    running.shift()?.();
    consumer.resume();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([state.waiting, relay.listening(), vi.getTimerCount()]).toEqual([1, 0, 0]);
  });

  test('stops only after its last claim has returned, and starts the claimed calls', async () => {
    const { running, held, consumer, settle } = openConsumer({ waiting: 2, holds: true });
    await settle();
    let stopped = false;
    const stopping = consumer.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect([stopped, running.length]).toEqual([false, 0]);
    held.shift()?.();
    await stopping;
    expect(running).toHaveLength(2);
  });
});

describe('the offer of a consumer of the Postgres queue', () => {
  test('is empty until a claim has returned fewer calls than it asked for', async () => {
    const { consumer, running, settle } = openConsumer({ waiting: 2 });
    expect(consumer.offered()).toBe(0);
    await settle();
    expect(consumer.offered()).toBe(0);
    running.shift()?.();
    await settle();
    expect(consumer.offered()).toBe(1);
  });

  test('is one call for each slot if calls are long, and several if they are short', async () => {
    const [long, short] = [openConsumer({ runner: 'exec' }), openConsumer({ runner: 'builtin' })];
    await long.settle();
    expect([long.consumer.offered(), short.consumer.offered()]).toEqual([2, 8]);
  });

  test('shrinks by the calls handed over, which start as slots become free', async () => {
    const { consumer, give, running, settle } = openConsumer({ runner: 'builtin' });
    await settle();
    give(3);
    expect([running.length, consumer.offered()]).toEqual([2, 5]);
    give(9);
    expect([running.length, consumer.offered()]).toEqual([2, 0]);
    running.shift()?.();
    await settle();
    expect(running).toHaveLength(2);
  });

  test('is empty from the moment that calls wait until a claim has emptied the queue', async () => {
    const { state, consumer, call, settle } = openConsumer({ runner: 'builtin' });
    await settle();
    state.waiting = 1;
    call('builtin');
    expect(consumer.offered()).toBe(0);
    await settle();
    expect(consumer.offered()).toBe(7);
  });

  test('is empty while it is paused and after it was stopped', async () => {
    const { consumer, settle } = openConsumer();
    await settle();
    consumer.pause();
    expect(consumer.offered()).toBe(0);
    consumer.resume();
    expect(consumer.offered()).toBe(0);
    await settle();
    expect(consumer.offered()).toBe(2);
    await consumer.stop();
    expect(consumer.offered()).toBe(0);
  });

  test('is started all at once when the consumer stops, so that the worker can return the calls', async () => {
    const { consumer, give, running, settle } = openConsumer({ runner: 'builtin' });
    await settle();
    give(8);
    expect(running).toHaveLength(2);
    await consumer.stop();
    expect(running).toHaveLength(8);
  });
});
