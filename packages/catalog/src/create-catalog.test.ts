import { Descriptor, type JsonObject } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { describe, expect, test } from 'vitest';
import { BUILTIN_TOOLS } from './builtin-tools.js';
import { createCatalog } from './create-catalog.js';

const catalog = createCatalog(BUILTIN_TOOLS);
const wrong = (tool_id: string, inputs: JsonObject) => catalog.get(tool_id)?.check(inputs);

describe('a catalog', () => {
  test('lists its tools and finds each by its id alone', () => {
    expect(catalog.list().map((entry) => entry.descriptor)).toEqual(BUILTIN_TOOLS);
    for (const tool of BUILTIN_TOOLS) expect(catalog.get(tool.tool_id)?.descriptor).toBe(tool);
    for (const unknown of ['', 'add', 'CAP:TEST_MATH:ADD', '__proto__', 'constructor'])
      expect(catalog.get(unknown)).toBeUndefined();
  });

  test('knows the hash of every descriptor, and no two are alike', () => {
    const hashes = catalog.list().map((entry) => entry.descriptor_hash);
    expect(hashes).toEqual(BUILTIN_TOOLS.map((tool) => hashJson(tool)));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('names what somebody may have meant', () => {
    expect(catalog.similar('cap:math:add')).toContain('cap:test_math:add');
    expect(catalog.similar('SHELL')).toEqual(['shell.run']);
    expect(catalog.similar('zzz')).toEqual([]);
    expect(catalog.similar('')).toEqual([]);
    expect(catalog.similar('cap').length).toBeLessThanOrEqual(5);
  });
});

describe('the check of inputs', () => {
  test('finds nothing wrong with what is right', () => {
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
});

describe.each(BUILTIN_TOOLS)('$tool_id', (tool) => {
  test('is a descriptor that says it takes an object and nothing unknown', () => {
    expect(Descriptor.parse(tool)).toEqual(tool);
    expect(tool.input_schema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  test('is idempotent only if it has no side effects', () => {
    if (tool.effects.idempotent) expect(tool.side_effects).toEqual([]);
    if (tool.runner === 'builtin') expect(tool.risk).toBe('LOW');
  });
});
