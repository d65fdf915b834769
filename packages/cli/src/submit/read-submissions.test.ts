import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batches } from './batches.js';
import { type Entry, readSubmissions } from './read-submissions.js';

async function* chunked(text: string, cuts: readonly number[] = []): AsyncGenerator<string> {
  const at = [0, ...[...cuts].sort((a, b) => a - b), text.length];
  for (let index = 1; index < at.length; index += 1) yield text.slice(at[index - 1], at[index]);
}
const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};
const read = (text: string, cuts?: readonly number[]): Promise<Entry[]> =>
  collect(readSubmissions(chunked(text, cuts)));
const values = async (text: string, cuts?: readonly number[]): Promise<unknown[]> =>
  (await read(text, cuts)).map((entry) => (entry.kind === 'value' ? entry.value : entry.reason));

describe('submissions', () => {
  it('are read from JSON lines, with or without a final line end, skipping blank lines', async () => {
    expect(await values('{"a":1}\r\n\n{"b":2}\n  \n{"c":3}')).toEqual([{ a: 1 }, { b: 2 }, { c: 3 }]);
  });

  it('are read from an array in any layout', async () => {
    expect(await values('\ufeff \n [ {"a":[1,{"b":"],[\\"}"}]} ,\n{"c":2}\n]\n')).toEqual([
      { a: [1, { b: '],["}' }] },
      { c: 2 },
    ]);
    expect(await values('[]')).toEqual([]);
    expect(await values('')).toEqual([]);
  });

  it('know their place in the input', async () => {
    expect((await read('{}\n\n{}')).map(({ index, place }) => `${index} ${place}`)).toEqual(['0 line 1', '1 line 3']);
    expect((await read('[{},{}]')).map(({ index, place }) => `${index} ${place}`)).toEqual(['0 item 1', '1 item 2']);
  });

  it('that are malformed are reported, and the rest continue', async () => {
    expect((await read('{}\n{oops\n{}')).map(({ kind }) => kind)).toEqual(['value', 'malformed', 'value']);
    expect((await read('[{}, oops, {}]')).map(({ kind }) => kind)).toEqual(['value', 'malformed', 'value']);
    expect((await read('[{},]')).map(({ kind }) => kind)).toEqual(['value', 'malformed']);
  });

  it('of a truncated array end with an error', async () => {
    await expect(read('[{"a":1},{"b"')).rejects.toThrow('cut off inside item 2');
  });

  it('are the same however the text is split into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.json())),
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        async (items, asArray, stream) => {
          const text = asArray ? JSON.stringify(items, null, 1) : items.map((item) => JSON.stringify(item)).join('\n');
          const cuts = [...stream.take(5)].map((cut) => cut % (text.length + 1));
          expect(await values(text, cuts)).toEqual(JSON.parse(JSON.stringify(items)));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a batch', () => {
  const entries = async function* (...sizes: number[]): AsyncGenerator<Entry> {
    for (const [index, bytes] of sizes.entries()) yield { index, place: '', bytes, kind: 'value', value: {} };
  };
  const sizes = async (bounds: { items?: number; bytes?: number }, ...of: number[]): Promise<number[][]> =>
    (await collect(batches(entries(...of), bounds))).map((batch) => batch.map(({ bytes }) => bytes));

  it('is limited by its number of items', async () => {
    expect(await sizes({ items: 2 }, 1, 2, 3, 4, 5)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('is limited by its size, and a very large item is sent alone', async () => {
    expect(await sizes({ bytes: 10 }, 4, 4, 4, 99, 1)).toEqual([[4, 4], [4], [99], [1]]);
  });
});
