import { readdirSync, readFileSync } from 'node:fs';
import { ArgumentShape } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { isPlain, isStarter } from './profile-book.js';
import { PLAIN, PROFILE_SETS, STARTERS } from './profiles.js';

const folder = new URL('../../examples/profiles/', import.meta.url);
const read = (file: string) => parse(readFileSync(new URL(file, folder), 'utf8'));

test('the generated profiles match packages/examples (npm run profiles -w @capstan/argv)', () => {
  const files = readdirSync(folder)
    .filter((file) => file !== 'programs.yaml')
    .sort();
  expect(PROFILE_SETS).toEqual(files.map(read));
  const { plain, starters } = read('programs.yaml');
  expect([...PLAIN].join(' ')).toBe(plain);
  expect([...STARTERS].join(' ')).toBe(starters);
});

test('every shape is valid in a policy, and every default profile exists', () => {
  for (const { profiles, default: names } of PROFILE_SETS) {
    for (const { shapes } of Object.values(profiles))
      for (const shape of shapes) expect(ArgumentShape.parse(shape)).toEqual(shape);
    expect(Object.keys(profiles)).toEqual(expect.arrayContaining([...names]));
  }
});

test('no program is both plain and known to start others', () => {
  expect([...PLAIN].filter(isStarter)).toEqual([]);
  expect([...STARTERS].filter(isPlain)).toEqual([]);
});
