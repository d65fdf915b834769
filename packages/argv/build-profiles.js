// Writes src/profiles.ts from the profiles in @capstan/examples, so that the engine reads no file: npm run profiles.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const folder = new URL('../examples/profiles/', import.meta.url);
const read = (file) => parse(readFileSync(new URL(file, folder), 'utf8'));
const files = readdirSync(folder)
  .filter((file) => file !== 'programs.yaml')
  .sort();
const { plain, starters } = read('programs.yaml');

const oneLine = (value) => JSON.stringify(value);
const sets = files.map((file) => `  ${oneLine(read(file))},`);
writeFileSync(
  new URL('src/profiles.ts', import.meta.url),
  `// Generated from packages/examples/profiles by npm run profiles; a test compares.
import type { ProfileSet } from './profile-set.js';

// biome-ignore format: one line for each file
export const PROFILE_SETS: readonly ProfileSet[] = [
${sets.join('\n')}
];
// biome-ignore format: one line
export const PLAIN: ReadonlySet<string> = new Set(${oneLine(plain)}.split(' '));
// biome-ignore format: one line
export const STARTERS: ReadonlySet<string> = new Set(${oneLine(starters)}.split(' '));
`,
);
