import { expect, test } from 'vitest';
import { workerEnv } from './env.js';

const parse = (CAPSTAN_TOOL_UIDS: string) =>
  workerEnv({ DATABASE_URL: 'postgres://localhost/capstan', CAPSTAN_TOOL_UIDS }).CAPSTAN_TOOL_UIDS;

test('CAPSTAN_TOOL_UIDS is a range of user ids, and may be empty', () => {
  expect(parse('200000-200999')).toEqual({ first: 200_000, last: 200_999 });
  expect(parse('')).toBeUndefined();
});

test.each(['0-65533', '999-2000', '2000-1000', '60000-70000', '5000', 'nobody', '5000-4294967295', '-5-10'])(
  'CAPSTAN_TOOL_UIDS=%s is refused, and the error names the variable',
  (range) => {
    expect(() => parse(range)).toThrow(/CAPSTAN_TOOL_UIDS/);
  },
);
