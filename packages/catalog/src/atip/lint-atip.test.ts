import { Failure, type JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseAtip } from './parse-atip.js';

const EFFECTS = {
  ...{ idempotent: true, reversible: true, destructive: false, network: false, subprocess: false },
  ...{ filesystem: { read: false, write: false, delete: false }, cost: { billable: false } },
};
const documentWith = (commands: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ atip: '0.6', name: 'tool', version: '1', description: 'A tool', effects: EFFECTS, commands, ...more },
});
const warningsOf = (commands: JsonObject, more?: JsonObject) => parseAtip(documentWith(commands, more)).warnings;
const option = (name: string, ...flags: string[]) => ({ name, flags, type: 'boolean', description: 'what it does' });

describe('a legal ATIP document', () => {
  test('without mistakes has no warning', () => {
    expect(warningsOf({ list: { description: 'List', options: [option('all', '--all', '-a')] } })).toEqual([]);
  });

  test.each<[string, JsonObject, string]>([
    ['an empty description', { go: { description: ' ' } }, 'commands.go.description is empty'],
    ['effects that say nothing', { go: { description: 'Go', effects: {} } }, 'commands.go.effects is empty'],
    [
      'what is destroyed, and nothing of a way back',
      { go: { description: 'Go', effects: { destructive: true } } },
      'commands.go.effects.reversible is missing where destructive is true',
    ],
    [
      'a short flag of several letters, in a group',
      { a: { description: 'A', commands: { b: { description: 'B', options: [option('all', '-all')] } } } },
      'commands.a.commands.b.options.0.flags -all has one dash and several letters',
    ],
  ])('is warned of %s, with the place', (_, commands, warning) => {
    expect(warningsOf(commands).join('\n')).toContain(warning);
  });
});

describe('an ATIP document with a probable mistake is refused', () => {
  test.each<[string, JsonObject, string]>([
    [
      'one flag twice',
      { go: { description: 'Go', options: [option('a', '-x'), option('b', '-x')] } },
      'commands.go.options.1.flags',
    ],
    ['a command that looks like an option', { '--go': { description: 'Go' } }, 'commands.--go'],
    [
      'an argument behind one that takes all',
      {
        go: {
          description: 'Go',
          arguments: [
            { name: 'files', type: 'file', description: 'all', variadic: true },
            { name: 'to', type: 'file', description: 'where' },
          ],
        },
      },
      'commands.go.arguments.0',
    ],
  ])('for %s, with the place', (_, commands, field) => {
    let errors: unknown;
    try {
      parseAtip(documentWith(commands));
    } catch (error) {
      errors = error instanceof Failure ? error.context.errors : error;
    }
    expect(errors).toMatchObject([{ field }]);
  });
});

describe('a command that asks for confirmation', () => {
  const prompting = (effects: JsonObject, ...options: JsonObject[]) =>
    parseAtip(documentWith({ go: { description: 'Go', options, effects: { interactive: effects } } })).descriptors.find(
      ({ name }) => name === 'tool_go',
    );

  test('is run with the flag that gives it, if the document has one', () => {
    const tool = prompting({ prompts: true }, option('yes', '-y', '--yes'), option('all', '--all'));
    expect(tool).toMatchObject({ effects: { interactive: false }, binding: { always: ['--yes'] } });
    expect(Object.keys(tool?.input_schema.properties ?? {})).toEqual(['all']);
  });

  test('stays interactive if no such flag is declared, or if it reads more than a confirmation', () => {
    expect(prompting({ prompts: true }, option('all', '--all'))?.effects.interactive).toBe(true);
    expect(prompting({ prompts: true, stdin: 'password' }, option('yes', '--yes'))?.effects.interactive).toBe(true);
  });
});
