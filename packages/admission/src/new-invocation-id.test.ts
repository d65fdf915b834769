import { expect, test } from 'vitest';
import { newInvocationId } from './new-invocation-id.js';

test('an id has the format of a nanoid, and no two are equal', () => {
  const ids = Array.from({ length: 10_000 }, () => newInvocationId());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^inv_[\w-]{21}$/);
});

test('later ids sort after earlier ones, byte by byte, for the next 80 years', () => {
  const moments = [0, 1, 63, 64, 4095, 1_790_000_000_000, 1_790_000_000_001, Date.parse('2106-01-01')];
  const ids = moments.map((moment) => newInvocationId(moment));
  expect([...ids].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))).toEqual(ids);
});
