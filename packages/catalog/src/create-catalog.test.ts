import { Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { describe, expect, test } from 'vitest';
import { BUILTIN_TOOLS } from './builtin-tools.js';
import { toEntry } from './catalog-entry.js';
import { createCatalog } from './create-catalog.js';

const catalog = createCatalog(BUILTIN_TOOLS);
const wrong = (tool_id: string, inputs: JsonObject) => catalog.get(tool_id)?.check(inputs);

const tool = (tool_id: string, over: Partial<Descriptor> = {}): Descriptor => ({
  tool_id,
  name: tool_id,
  description: '',
  source: 'core',
  origin: 'core',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
  ...over,
});

describe('a catalog', () => {
  test('lists its tools and finds each by its id only', () => {
    expect(catalog.list().map((entry) => entry.descriptor)).toEqual(BUILTIN_TOOLS);
    for (const known of BUILTIN_TOOLS) expect(catalog.get(known.tool_id)?.descriptor).toBe(known);
    for (const unknown of ['', 'add', 'CAP:TEST_MATH:ADD', '__proto__', 'constructor'])
      expect(catalog.get(unknown)).toBeUndefined();
  });

  test('knows the hash of every descriptor, and all hashes differ', () => {
    const hashes = catalog.list().map((entry) => entry.descriptor_hash);
    expect(hashes).toEqual(BUILTIN_TOOLS.map((each) => hashJson(each)));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('suggests similar ids for an unknown one', () => {
    expect(catalog.similar('cap:math:add')).toContain('cap:test_math:add');
    expect(catalog.similar('SHELL')).toContain('shell.run');
    expect(catalog.similar('shel.rnu')).toContain('shell.run');
    expect(catalog.similar('zzz')).toEqual([]);
    expect(catalog.similar('')).toEqual([]);
    expect(catalog.similar('cap').length).toBeLessThanOrEqual(5);
  });

  test('ranks matches: a name before a description, all words before some', () => {
    const found = (words: string) =>
      createCatalog([
        tool('a', { name: 'wc', description: 'Count the words of a text' }),
        tool('b', { name: 'count_words', description: 'As it says' }),
        tool('c', { name: 'sort', description: 'Sort the lines of a text' }),
      ])
        .search(words)
        .map(({ descriptor }) => descriptor.tool_id);
    expect(found('count words')).toEqual(['b', 'a']);
    expect(found('sorted lines')).toEqual(['c']);
    expect(found('wordz')).toEqual(expect.arrayContaining(['a', 'b']));
    expect(found('zebra')).toEqual([]);
  });

  test('finds an ATIP command in every spelling of its path', () => {
    const known = createCatalog([tool('atip:gh:pr.create'), tool('atip:gh:.')]);
    for (const id of ['atip:gh:pr.create', 'atip:gh:pr create', 'atip:gh:pr/create', 'atip:gh:pr:create'])
      expect(known.get(id)?.descriptor.tool_id).toBe('atip:gh:pr.create');
    expect(known.get('atip:gh:')?.descriptor.tool_id).toBe('atip:gh:.');
    expect(known.get('atip:gh')).toBeUndefined();
  });
});

describe('the check of inputs', () => {
  test('accepts valid inputs', () => {
    expect(wrong('cap:test_math:add', { a: 1, b: -2.5 })).toEqual([]);
    expect(wrong('cap:current_time:get_current_time', {})).toEqual([]);
    expect(wrong('shell.run', { cmd: ['echo', ''], stdin: '\u0000' })).toEqual([]);
  });

  test.each<[string, JsonObject, string[]]>([
    ['cap:test_math:add', {}, ['inputs.a', 'inputs.b']],
    ['cap:test_math:add', { a: '1', b: 2 }, ['inputs.a']],
    ['cap:test_math:add', { a: 1, b: 2, c: 3 }, ['inputs.c']],
    ['cap:test_math:add', JSON.parse('{"a": 1, "b": 2, "__proto__": 3}'), ['inputs.__proto__']],
    ['cap:current_time:get_current_time', { format: 'roman' }, ['inputs.format']],
    ['shell.run', { cmd: [] }, ['inputs.cmd']],
    ['shell.run', { cmd: 'rm -rf /' }, ['inputs.cmd']],
    ['shell.run', { cmd: ['ls', 1] }, ['inputs.cmd.1']],
  ])('of %s names the fields of %o that are wrong', (tool_id, inputs, fields) => {
    const errors = wrong(tool_id, inputs) ?? [];
    expect(errors.map((error) => error.field)).toEqual(fields);
    for (const error of errors) expect(error.message).not.toBe('');
  });

  const check = (input_schema: JsonObject, inputs: JsonObject) => toEntry(tool('x', { input_schema })).check(inputs);

  test('uses draft 7 if the schema declares it', () => {
    const schema = { properties: { pair: { items: [{ type: 'string' }, { type: 'number' }] } } };
    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', ...schema };
    expect(check(draft7, { pair: ['a', 'b'] })).toMatchObject([{ field: 'inputs.pair.1' }]);
    expect(check(draft7, { pair: ['a', 1] })).toEqual([]);
  });

  test('stops a pattern that would backtrack forever', () => {
    const schema = { properties: { text: { pattern: '^(a+)+$' } } };
    expect(check(schema, { text: 'aaa' })).toEqual([]);
    expect(check(schema, { text: `${'a'.repeat(40)}!` })).toEqual([
      { field: 'inputs', message: expect.stringContaining('took more than') },
    ]);
    const quadratic = { properties: { text: { pattern: 'x*y' } } };
    expect(check(quadratic, { text: 'x'.repeat(1_000_000) })).toHaveLength(1);
  });

  test('finds duplicates in a long list in linear time', () => {
    const schema = { properties: { list: { uniqueItems: true } } };
    const list = Array.from({ length: 100_000 }, (_, n) => ({ n }));
    expect(check(schema, { list })).toEqual([]);
    expect(check(schema, { list: [...list, { n: 3 }] })).toMatchObject([{ field: 'inputs.list' }]);
  });

  test('names no more than twenty fields', () => {
    const schema = { properties: { list: { items: { type: 'string' } } } };
    expect(check(schema, { list: Array.from({ length: 1000 }, () => 1) })).toHaveLength(20);
  });
});

describe('a schema that cannot be used', () => {
  test.each<[JsonObject, RegExp]>([
    [{ type: 'nothing' }, /type/],
    [{ $ref: '#/$defs/missing' }, /missing/],
    [{ $ref: 'https://example.com/schema.json' }, /there is no schema "https:\/\/example.com\/schema.json"/],
    [{ properties: { a: { pattern: '(' } } }, /regular expression/i],
    [{ $schema: 'https://example.com/other' }, /not supported/],
    [{ $id: 'https://example.com/a', properties: 3 }, /valid/],
  ])('%j makes its tool unavailable, with the reason, and hurts no other', (input_schema, reason) => {
    const known = createCatalog([tool('bad', { input_schema }), tool('good')]);
    expect(known.get('bad')?.unavailable()).toMatch(reason);
    expect(known.get('bad')?.check({})).toMatchObject([{ field: 'tool_id' }]);
    expect(known.get('good')?.unavailable()).toBeNull();
    expect(known.get('good')?.check({ a: 1 })).toEqual([]);
  });

  test('two schemas with the same $id do not affect each other', () => {
    const of = (type: string) =>
      tool(type, { input_schema: { $id: 'https://example.com/same', properties: { a: { type } } } });
    const known = createCatalog([of('string'), of('number')]);
    expect(known.get('string')?.check({ a: 'x' })).toEqual([]);
    expect(known.get('number')?.check({ a: 'x' })).toHaveLength(1);
  });
});

describe.each(BUILTIN_TOOLS)('$tool_id', (native) => {
  test('is a descriptor whose inputs can be checked', () => {
    expect(Descriptor.parse(native)).toEqual(native);
    expect(native.input_schema).toMatchObject({ type: 'object' });
    expect(toEntry(native).unavailable()).toBeNull();
  });
});
