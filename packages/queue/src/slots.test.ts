import { describe, expect, test } from 'vitest';
import type { Start } from './queue.js';
import { openSlots } from './slots.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Calls that run until the test ends them by name. */
function newCalls(...names: string[]) {
  const begun: string[] = [];
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>();
  const starts = names.map(
    (name): Start =>
      () => {
        begun.push(name);
        return new Promise((resolve, reject) => void ends.set(name, { resolve, reject }));
      },
  );
  const end = async (...ended: string[]) => {
    for (const name of ended) ends.get(name)?.resolve();
    await turn();
  };
  return { begun, starts, end, ends };
}

function openCounted(size: number) {
  const told = { times: 0 };
  const slots = openSlots(size, () => {
    told.times += 1;
  });
  return { slots, told };
}

describe('slots', () => {
  test('start as many calls as there are slots, and the others in order as slots become free', async () => {
    const { slots } = openCounted(2);
    const { begun, starts, end } = newCalls('a', 'b', 'c', 'd');
    void slots.run(starts);
    expect([begun, slots.waiting()]).toEqual([['a', 'b'], 2]);
    await end('b');
    expect([begun, slots.waiting()]).toEqual([['a', 'b', 'c'], 1]);
    await end('a', 'c');
    expect([begun, slots.waiting()]).toEqual([['a', 'b', 'c', 'd'], 0]);
  });

  test('have room for several short calls each, and for one long call', () => {
    for (const { short, room } of [
      { short: true, room: 8 },
      { short: false, room: 2 },
    ]) {
      const slots = openSlots(2, () => {}, { short });
      expect(slots.room()).toBe(room);
      void slots.run(newCalls('a', 'b', 'c').starts);
      expect(slots.room()).toBe(Math.max(0, room - 3));
    }
  });

  test('start later calls after those that already wait', async () => {
    const { slots } = openCounted(1);
    const [first, second] = [newCalls('a', 'b'), newCalls('c')];
    void slots.run(first.starts);
    void slots.run(second.starts);
    await first.end('a');
    expect([first.begun, second.begun]).toEqual([['a', 'b'], []]);
    await first.end('b');
    expect(second.begun).toEqual(['c']);
  });

  test('are free only if no call uses or waits for them', async () => {
    const { slots } = openCounted(3);
    const { starts, end } = newCalls('a', 'b', 'c', 'd', 'e');
    expect(slots.free()).toBe(3);
    void slots.run(starts);
    expect(slots.free()).toBe(0);
    await end('a', 'b');
    expect(slots.free()).toBe(0);
    await end('c');
    expect(slots.free()).toBe(1);
  });

  test('resolve a run when the last of its calls has ended', async () => {
    const { slots } = openCounted(1);
    const { starts, end } = newCalls('a', 'b');
    let done = false;
    const ended = slots.run(starts).then(() => {
      done = true;
    });
    await end('a');
    expect(done).toBe(false);
    await end('b');
    await ended;
    expect(done).toBe(true);
    await slots.run([]);
  });

  test('become free when a call fails', async () => {
    const { slots, told } = openCounted(1);
    const { begun, starts, ends, end } = newCalls('a', 'b');
    const ended = slots.run(starts);
    ends.get('a')?.reject(new Error('it broke'));
    await turn();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    await ended;
    await turn();
    expect([slots.free(), told.times]).toEqual([1, 1]);
  });

  test('report once that they are free for all calls that end in one turn of the event loop', async () => {
    const { slots, told } = openCounted(3);
    const { starts, end } = newCalls('a', 'b', 'c');
    void slots.run(starts);
    await turn();
    expect(told.times).toBe(0);
    await end('a', 'b');
    await turn();
    expect(told.times).toBe(1);
    await end('c');
    await turn();
    expect(told.times).toBe(2);
  });

  test('do not report that they are free while calls wait for them', async () => {
    const { slots, told } = openCounted(1);
    const { starts, end } = newCalls('a', 'b');
    void slots.run(starts);
    await end('a');
    await turn();
    expect(told.times).toBe(0);
    await end('b');
    await turn();
    expect(told.times).toBe(1);
  });

  test('start all waiting and new calls at once after they are opened', () => {
    const { slots } = openCounted(1);
    const { begun, starts } = newCalls('a', 'b', 'c');
    void slots.run(starts.slice(0, 2));
    slots.open();
    expect(begun).toEqual(['a', 'b']);
    void slots.run(starts.slice(2));
    expect([begun, slots.free(), slots.waiting()]).toEqual([['a', 'b', 'c'], 0, 0]);
  });
});
