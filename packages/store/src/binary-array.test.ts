import { expect, test } from 'vitest';
import { floatArray, intArray, textArray } from './binary-array.js';
import { openTestStore } from './testing/open-test-store.js';

const store = await openTestStore();
const read = async (type: string, bytes: Buffer) => {
  const rows = await store.query<{ value: unknown }>(
    {
      name: `read-${type}`,
      text: `SELECT value FROM unnest($1::${type}[]) WITH ORDINALITY AS u (value, place) ORDER BY place`,
    },
    [bytes],
  );
  return rows.map(({ value }) => value);
};

test.each<[string, (string | null)[]]>([
  ['no elements', []],
  ['what an array literal would have to escape', ['', ' ', '"', '\\', '{a,b}', 'NULL', 'null', "'"]],
  ['letters of several bytes', ['é', '語', '👩‍🚀']],
  ['nulls among others', [null, 'a', null]],
])('Postgres reads texts as they were given: %s', async (_, texts) => {
  expect(await read('text', textArray(texts))).toEqual(texts);
});

test('Postgres reads whole numbers as they were given', async () => {
  const numbers = [0, 1, -1, 2_147_483_647, -2_147_483_648];
  expect(await read('int', intArray(numbers))).toEqual(numbers);
});

test('Postgres reads fractions as they were given, and a missing one as null', async () => {
  expect(await read('float8', floatArray([0.1, -1e-300, undefined, 12.345]))).toEqual([0.1, -1e-300, null, 12.345]);
});
