import { readFileSync } from 'node:fs';
import { CommandsFile, Manifest } from '@capstan/catalog';
import { Plan, PolicyDocument, Submission } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { findRepository } from '../fixtures/find-repository.js';

/** The names of all members that a document may have, at any depth. */
function membersOf(schema: z.ZodType): string[] {
  const names = new Set<string>();
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      for (const name of Object.keys(jsonSchema.properties ?? {})) names.add(name);
    },
  });
  return [...names];
}

const read = (path: string) => readFileSync(new URL(path, findRepository()), 'utf8');

test.each([
  ['a policy', PolicyDocument, ['docs/reference/policy.md', 'packages/argv/README.md']],
  ['a plan', Plan, ['docs/reference/plan.md']],
  ['the manifest of an extension', Manifest, ['docs/reference/extension.md']],
  ['the commands of an extension', CommandsFile, ['docs/reference/extension.md']],
  ['a submission', Submission, ['docs/guides/calls.md']],
])('every field of %s is documented', (_, schema, pages) => {
  const words = new Set(pages.flatMap((page) => read(page).match(/[\w$]+/g) ?? []));
  const members = membersOf(schema);
  expect(members.length).toBeGreaterThan(4);
  expect(members.filter((name) => !words.has(name))).toEqual([]);
});
