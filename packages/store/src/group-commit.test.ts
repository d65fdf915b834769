import { Failure } from '@capstan/contracts';
import { describe, expect, test, vi } from 'vitest';
import { groupCommit } from './group-commit.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

type Write = { items: number[]; finish(): void; fail(error: Error): void };

/** Writes that end on command of the test. */
function controlled({
  max_batch = 100,
  max_waiting = 100,
  isolate = false,
  patience_ms = (_item: number, _company: boolean, _gathered: number): number => 0,
} = {}) {
  const writes: Write[] = [];
  const awaited = new Map<number, (write: Write) => void>();
  const commit = groupCommit<number, string>({
    write: (items) =>
      new Promise((resolve, reject) => {
        const begun = { items, finish: () => resolve(items.map((item) => `did ${item}`)), fail: reject };
        awaited.get(writes.push(begun) - 1)?.(begun);
      }),
    patience_ms,
    max_batch,
    max_waiting,
    isolate: () => isolate,
  });
  /** The write of that number, begun already or later. */
  const write = (at: number) =>
    new Promise<Write>((resolve) => {
      const begun = writes[at];
      if (begun) resolve(begun);
      else awaited.set(at, resolve);
    });
  return { commit, writes, write };
}

describe('a group commit', () => {
  test('writes a lone item at once', async () => {
    const { commit, write } = controlled();
    const one = commit(1);
    const first = await write(0);
    expect(first.items).toEqual([1]);
    first.finish();
    expect(await one).toBe('did 1');
  });

  test('writes together what comes in one turn of the event loop', async () => {
    const { commit, write } = controlled();
    const all = [1, 2, 3].map((item) => commit(item));
    const first = await write(0);
    expect(first.items).toEqual([1, 2, 3]);
    first.finish();
    expect(await Promise.all(all)).toEqual(['did 1', 'did 2', 'did 3']);
  });

  test('writes what arrives during a write together in the next', async () => {
    const { commit, writes, write } = controlled();
    const first = commit(1);
    await write(0);
    const later = [commit(2)];
    await turn();
    later.push(commit(3));
    await turn();
    expect(writes).toHaveLength(1);
    writes[0]?.finish();
    await first;
    const second = await write(1);
    expect(second.items).toEqual([2, 3]);
    second.finish();
    expect(await Promise.all(later)).toEqual(['did 2', 'did 3']);
  });

  test('waits for others only as long as the least patient item allows', async () => {
    vi.useFakeTimers();
    const { commit, writes } = controlled({ patience_ms: (item) => item });
    const all = [30, 20, 40].map((item) => commit(item));
    await vi.advanceTimersByTimeAsync(19);
    expect(writes).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    expect(writes.map(({ items }) => items)).toEqual([[30, 20, 40]]);
    writes[0]?.finish();
    await Promise.all(all);
  });

  test('stops waiting as soon as enough items are gathered', async () => {
    const { commit, write } = controlled({ patience_ms: (_item, _company, gathered) => (gathered < 3 ? 60_000 : 0) });
    const all = [1, 2, 3].map((item) => commit(item));
    const first = await write(0);
    expect(first.items).toEqual([1, 2, 3]);
    first.finish();
    await Promise.all(all);
  });

  test('writes patient items together with one that does not wait', async () => {
    const { commit, write } = controlled({ patience_ms: (item) => item });
    const patient = commit(60_000);
    const hasty = commit(0);
    const first = await write(0);
    expect(first.items).toEqual([60_000, 0]);
    first.finish();
    await Promise.all([patient, hasty]);
  });

  test('writes no more at once than max_batch, and loses none of the rest', async () => {
    const { commit, writes, write } = controlled({ max_batch: 2 });
    const all = [1, 2, 3, 4, 5].map((item) => commit(item));
    for (const at of [0, 1, 2]) (await write(at)).finish();
    await Promise.all(all);
    expect(writes.map((one) => one.items)).toEqual([[1, 2], [3, 4], [5]]);
  });

  test('runs one write at a time', async () => {
    const { commit, writes, write } = controlled();
    const first = commit(1);
    (await write(0)).items satisfies number[];
    const second = commit(2);
    await turn();
    expect(writes.map((one) => one.items)).toEqual([[1]]);
    writes[0]?.finish();
    (await write(1)).finish();
    await Promise.all([first, second]);
  });

  test('fails the whole batch if a retry item by item cannot help', async () => {
    const { commit, writes, write } = controlled();
    const all = Promise.allSettled([1, 2].map((item) => commit(item)));
    (await write(0)).fail(new Error('gone'));
    expect(await all).toMatchObject([
      { status: 'rejected', reason: { message: 'gone' } },
      { status: 'rejected', reason: { message: 'gone' } },
    ]);
    expect(writes).toHaveLength(1);
  });

  test('does not fail the other items of a batch with one bad item', async () => {
    const { commit, writes, write } = controlled({ isolate: true });
    const all = Promise.allSettled([1, 2, 3].map((item) => commit(item)));
    (await write(0)).fail(new Error('one of these'));
    (await write(1)).finish();
    (await write(2)).fail(new Error('this one'));
    (await write(3)).finish();
    expect(await all).toMatchObject([
      { status: 'fulfilled', value: 'did 1' },
      { status: 'rejected', reason: { message: 'this one' } },
      { status: 'fulfilled', value: 'did 3' },
    ]);
    expect(writes.map((one) => one.items)).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  test('continues after a failure', async () => {
    const { commit, write } = controlled();
    const bad = commit(1);
    (await write(0)).fail(new Error('gone'));
    await expect(bad).rejects.toThrow('gone');
    const good = commit(2);
    (await write(1)).finish();
    expect(await good).toBe('did 2');
  });

  test('rejects an item at once if too many are waiting', async () => {
    const { commit, write } = controlled({ max_waiting: 2 });
    const first = commit(1);
    const writing = await write(0);
    const waiting = [commit(2), commit(3)];
    await expect(commit(4)).rejects.toThrow(Failure);
    await expect(commit(4)).rejects.toMatchObject({ kind: 'OVERLOADED', status: 503, retryable: true });
    writing.finish();
    await first;
    (await write(1)).finish();
    expect(await Promise.all(waiting)).toEqual(['did 2', 'did 3']);
  });

  test('rejects an item for which the write returned no outcome', async () => {
    const commit = groupCommit<number, string>({
      write: (items) => Promise.resolve(items.slice(1).map(String)),
      max_batch: 10,
      max_waiting: 10,
      isolate: () => false,
    });
    const all = await Promise.allSettled([commit(1), commit(2)]);
    expect(all.map((one) => one.status)).toEqual(['fulfilled', 'rejected']);
  });
});

describe('idle', () => {
  test('resolves at once if nothing was passed in', async () => {
    await controlled().commit.idle();
  });

  test('waits for the current write and for waiting items', async () => {
    const { commit, write } = controlled({ max_batch: 1 });
    const seen: string[] = [];
    const note = (what: string) => () => void seen.push(what);
    const all = [commit(1).then(note('1')), commit(2).then(note('2'))];
    const idle = commit.idle().then(note('idle'));
    (await write(0)).finish();
    (await write(1)).finish();
    await Promise.all([...all, idle]);
    expect(seen).toEqual(['1', '2', 'idle']);
  });

  test('waits for failing items too', async () => {
    const { commit, write } = controlled();
    const bad = commit(1).catch(() => 'refused');
    const idle = commit.idle();
    (await write(0)).fail(new Error('gone'));
    await idle;
    expect(await bad).toBe('refused');
  });

  test('does not wait for items that arrive after the call', async () => {
    const { commit, write } = controlled();
    const all = [commit(0)];
    let idle = false;
    const waiting = commit.idle().then(() => {
      idle = true;
    });
    // Simulates steady traffic: another item always arrives before the last one is written.
    for (let item = 1; item <= 5; item += 1) {
      const writing = await write(item - 1);
      all.push(commit(item));
      writing.finish();
    }
    const last = await write(5);
    expect(idle).toBe(true);
    last.finish();
    await Promise.all([...all, waiting]);
  });
});
