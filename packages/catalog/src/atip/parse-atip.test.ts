import { existsSync, readFileSync } from 'node:fs';
import { type Descriptor, Failure, type Json, type JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { toEntry } from '../catalog-entry.js';
import { parseAtip } from './parse-atip.js';

const corpus = (name: string) => new URL(`../../../../../shared/corpora/atip/${name}`, import.meta.url);
const isThere = existsSync(corpus('gh.json'));
const load = (name: string): JsonObject => JSON.parse(readFileSync(corpus(name), 'utf8'));

const document = (over: JsonObject = {}): JsonObject => ({
  atip: { version: '0.6' },
  name: 'box',
  version: '1',
  description: 'Keeps things',
  ...over,
});
const named = (descriptors: Descriptor[], name: string): Descriptor => {
  const found = descriptors.find((each) => each.name === name);
  if (!found) throw new Error(`no ${name} among ${descriptors.map((each) => each.name).join(' ')}`);
  return found;
};

describe.skipIf(!isThere)('the corpus of ATIP (skipped where the corpora are not there)', () => {
  test('gh.json becomes tools, every command of it', () => {
    const { descriptors, warnings } = parseAtip(load('gh.json'));
    expect(warnings).toEqual([]);
    expect(descriptors.length).toBeGreaterThan(100);
    expect(new Set(descriptors.map(({ tool_id }) => tool_id)).size).toBe(descriptors.length);
    expect(new Set(descriptors.map(({ name }) => name)).size).toBe(descriptors.length);
    expect(named(descriptors, 'gh_pr_create')).toMatchObject({
      tool_id: 'atip:gh:pr.create',
      trust: 'inferred',
      binding: { executable: 'gh', path: ['pr', 'create'] },
    });
    expect(named(descriptors, 'gh')).toMatchObject({ tool_id: 'atip:gh:.', binding: { path: [] } });
    expect(named(descriptors, 'gh_auth_setup-git').binding).toMatchObject({ path: ['auth', 'setup-git'] });
  });

  test('the effects in gh.json determine the risk class', () => {
    const { descriptors } = parseAtip(load('gh.json'));
    expect(named(descriptors, 'gh_issue_delete')).toMatchObject({ risk: 'HIGH', effects: { destructive: true } });
    expect(named(descriptors, 'gh_issue_list')).toMatchObject({
      risk: 'MED',
      effects: { destructive: false, idempotent: true, network: true },
      side_effects: expect.arrayContaining(['network.http']),
    });
    expect(named(descriptors, 'gh_pr_create')).toMatchObject({ risk: 'HIGH' });
  });

  test('minimal.json is one tool, its root', () => {
    const { descriptors } = parseAtip(load('minimal.json'));
    expect(descriptors).toHaveLength(1);
    expect(descriptors[0]).toMatchObject({
      tool_id: 'atip:hello:.',
      name: 'hello',
      trust: 'inferred',
      input_schema: { required: ['name'] },
    });
  });
});

const greet = (over: JsonObject): Descriptor => {
  const [, descriptor] = parseAtip(document({ commands: { greet: { description: 'Greet', ...over } } })).descriptors;
  if (!descriptor) throw new Error('no tool');
  return descriptor;
};

describe('an ATIP command', () => {
  test("gets the more dangerous of its own and its tool's effects, and the dangerous value if undeclared", () => {
    const [root, pull] = parseAtip(
      document({
        effects: { network: true, idempotent: true, reversible: true, destructive: false, cost: { estimate: 'low' } },
        commands: {
          pull: {
            description: 'Get it',
            effects: {
              network: false,
              idempotent: false,
              filesystem: { write: false },
              cost: { estimate: 'high', billable: false },
            },
          },
        },
      }),
    ).descriptors;
    expect(root?.effects).toMatchObject({ network: true, idempotent: true, cost_units: 1, billable: true });
    expect(pull?.effects).toMatchObject({
      network: true,
      idempotent: false,
      reversible: true,
      destructive: false,
      billable: false,
      cost_units: 100,
      filesystem: { read: true, write: false, delete: true },
    });
    expect(pull?.inferred.map(({ why }) => why).join()).toContain('filesystem.delete');
  });

  test('inherits the options of its groups, nearest first, and their effects if it declares none', () => {
    const option = (name: string, flag: string) => ({ name, flags: [flag], type: 'string', description: '' });
    const { descriptors } = parseAtip(
      document({
        globalOptions: [option('host', '--host'), option('repo', '--outer')],
        commands: {
          issue: {
            description: 'Issues',
            options: [option('repo', '--repo')],
            effects: { destructive: true, network: true },
            commands: {
              list: { description: 'List', effects: { destructive: false, network: true } },
              close: { description: 'Close', options: [option('host', '--own')] },
            },
          },
        },
      }),
    );
    const flags = (name: string) => {
      const { binding } = named(descriptors, name);
      return binding.kind === 'atip' ? binding.parameters.flatMap((parameter) => parameter.flags) : [];
    };
    expect(flags('box_issue_list')).toEqual(['--repo', '--host']);
    expect(flags('box_issue_close')).toEqual(['--own', '--repo']);
    expect(named(descriptors, 'box_issue_list').effects).toMatchObject({ destructive: false, network: true });
    expect(named(descriptors, 'box_issue_close').effects).toMatchObject({ destructive: true, network: true });
  });

  test('without declared effects counts as dangerous, with the lowest trust', () => {
    expect(greet({})).toMatchObject({
      trust: 'inferred',
      risk: 'HIGH',
      effects: { destructive: true, network: true, idempotent: false, filesystem: { delete: true } },
    });
  });

  test('that costs money is critical', () => {
    expect(greet({ effects: { destructive: false, cost: { billable: true } } })).toMatchObject({
      risk: 'CRITICAL',
      side_effects: expect.arrayContaining(['payments']),
    });
  });

  test('that asks questions is interactive, and keeps its declared duration', () => {
    expect(greet({ effects: { interactive: { prompts: true }, duration: { timeout: '2m' } } })).toMatchObject({
      effects: { interactive: true },
      timeout_ms: 120_000,
    });
  });

  test('that asks questions can be given a terminal and its answers', () => {
    const sent = { tty: true, stdin: 'yes\n' };
    const prepared = (effects: JsonObject) => toEntry(greet({ effects })).prepare(sent).inputs;
    expect(prepared({ interactive: { stdin: 'required' } })).toEqual(sent);
    expect(prepared({ interactive: { stdin: 'none' } })).toEqual({});
  });

  test('keeps a unique name if two commands flatten to the same name', () => {
    const { descriptors } = parseAtip(
      document({
        name: 'x',
        commands: {
          a_b: { description: 'one' },
          a: { description: 'group', commands: { b: { description: 'two' } } },
          '': { description: 'root' },
        },
      }),
    );
    expect(descriptors.map(({ name, tool_id }) => [name, tool_id])).toEqual([
      ['x_a_b', 'atip:x:a_b'],
      ['x_a', 'atip:x:a'],
      ['x_a_b_2', 'atip:x:a.b'],
      ['x', 'atip:x:.'],
    ]);
  });

  test('prefers long flags, and distinguishes an argument and an option of the same name', () => {
    const { binding, input_schema } = greet({
      arguments: [{ name: 'repo', type: 'string', description: '' }],
      options: [{ name: 'repo', flags: ['-R', '--repo'], type: 'string', description: '' }],
    });
    expect(binding).toMatchObject({
      parameters: [
        { name: 'repo', flags: [] },
        { name: 'repo_2', flags: ['--repo', '-R'] },
      ],
    });
    expect(input_schema).toMatchObject({ required: ['repo'] });
  });

  const entry = toEntry(
    greet({
      arguments: [{ name: 'who', type: 'string', description: '', variadic: true }],
      options: [
        { name: 'times', flags: ['--times'], type: 'integer', description: '' },
        { name: 'loud', flags: ['--loud'], type: 'boolean', description: '' },
        { name: 'pitch', flags: ['--pitch'], type: 'number', description: '' },
        { name: 'tone', flags: ['--tone'], type: 'enum', enum: ['warm', 'cold'], description: '' },
      ],
    }),
  );

  test.each<[JsonObject, JsonObject]>([
    [{ who: 'ann' }, { who: ['ann'] }],
    [
      { who: ['ann'], times: '5' },
      { who: ['ann'], times: 5 },
    ],
    [
      { who: ['ann'], loud: 'true' },
      { who: ['ann'], loud: true },
    ],
    [
      { who: ['ann'], pitch: '1.5' },
      { who: ['ann'], pitch: 1.5 },
    ],
    [{ who: [7] }, { who: ['7'] }],
    [{ who: ['ann'], times: null }, { who: ['ann'] }],
    [
      { who: ['ann'], tone: 'warm' },
      { who: ['ann'], tone: 'warm' },
    ],
  ])('takes %j as %j', (sent, inputs) => {
    expect(entry.check(sent)).toEqual([]);
    expect(entry.prepare(sent)).toEqual({ inputs, warnings: [] });
  });

  test.each<[JsonObject, string]>([
    [{}, 'inputs.who'],
    [{ who: ['a'], times: '5.5' }, 'inputs.times'],
    [{ who: ['a'], times: 'five' }, 'inputs.times'],
    [{ who: ['a'], times: ' ' }, 'inputs.times'],
    [{ who: ['a'], pitch: '0x10' }, 'inputs.pitch'],
    [{ who: ['a'], loud: 1 }, 'inputs.loud'],
    [{ who: ['a'], loud: 'yes' }, 'inputs.loud'],
    [{ who: ['a'], tone: 'hot' }, 'inputs.tone'],
    [{ who: [{ a: 1 }] }, 'inputs.who.0'],
  ])('refuses %j at %s', (sent, field) => {
    expect(entry.check(sent).map((error) => error.field)).toEqual([field]);
  });

  test('leaves an unknown parameter out, with a warning', () => {
    expect(entry.check({ who: ['a'], mood: 'x' })).toEqual([]);
    expect(entry.prepare({ who: ['a'], mood: 'x' })).toEqual({
      inputs: { who: ['a'] },
      warnings: ['mood is not a parameter of this command and is left out'],
    });
  });
});

describe('a document', () => {
  test('that is wrong is refused with the place', () => {
    const nested = document({ commands: { a: { description: 'x', commands: { b: {} } } } });
    expect(() => parseAtip(nested)).toThrow(Failure);
    expect(() => parseAtip(nested)).toThrow('commands.a.commands.b.description');
  });

  test('nested too deeply is refused', () => {
    let inner: Json = { description: 'x' };
    for (let depth = 0; depth < 100_000; depth += 1) inner = { description: 'x', commands: { a: inner } };
    expect(() => parseAtip(document({ commands: { a: inner } }))).toThrow('nested deeper');
  });

  test('with members that ATIP does not know is accepted, and they are listed', () => {
    expect(parseAtip(document({ effect: {}, 'x-mine': 1 })).warnings).toEqual([
      'effect is not a member that ATIP knows',
    ]);
  });
});
