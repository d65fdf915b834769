import type { Json, JsonObject } from '@capstan/contracts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { BUILTIN_TOOLS } from '../builtin-tools.js';
import { toGeminiSchema } from './gemini-schema.js';
import { toObjectSchema } from './object-schema.js';
import { testTool as tool } from './testing/test-tool.js';
import { toProviderTools } from './to-provider-tools.js';
import { nameTools } from './tool-names.js';

describe('schemas', () => {
  const HARD: JsonObject = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    oneOf: [
      { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: ['integer', 'null'] } } },
      { $ref: '#/$defs/other' },
    ],
    $defs: {
      other: { type: 'object', required: ['a'], properties: { a: { const: 'x' }, c: { $ref: '#/$defs/node' } } },
      node: {
        type: 'object',
        properties: { next: { $ref: '#/$defs/node' }, tags: { type: 'array' }, n: { enum: [1, 2] } },
      },
    },
  };

  test('are objects at the top level for OpenAI and Anthropic, and require what all alternatives require', () => {
    const schema = toObjectSchema(HARD);
    expect(schema).toMatchObject({ type: 'object', required: ['a'] });
    expect(Object.keys(schema.properties ?? {})).toEqual(['a', 'b', 'c']);
    for (const key of ['oneOf', 'anyOf', 'allOf', 'enum', 'not', '$schema']) expect(schema).not.toHaveProperty(key);
    expect(() => new Ajv2020({ strict: false }).compile(schema)).not.toThrow();
  });

  test('use the subset that Gemini accepts, also if they are recursive', () => {
    const schema = toGeminiSchema(HARD);
    const known = new Set([
      'type',
      'nullable',
      'format',
      'enum',
      'anyOf',
      'items',
      'properties',
      'required',
      'title',
      'description',
      'pattern',
      'minLength',
      'maxLength',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
    ]);
    const check = (one: Json): void => {
      if (typeof one !== 'object' || one === null || Array.isArray(one)) throw new Error('no schema');
      for (const key of Object.keys(one)) expect(known.has(key), key).toBe(true);
      expect(one.type === undefined).toBe(Array.isArray(one.anyOf));
      if (one.type === 'array') expect(one.items).toBeDefined();
      if (one.properties !== undefined) for (const member of Object.values(one.properties ?? {})) check(member);
      if (one.items !== undefined) check(one.items);
      if (Array.isArray(one.anyOf)) one.anyOf.forEach(check);
    };
    check(schema ?? {});
    expect(schema).toMatchObject({ type: 'object', properties: { b: { type: 'integer', nullable: true } } });
  });

  test('a tool without arguments has no parameters in Gemini, and an empty object elsewhere', () => {
    const [named] = nameTools([tool('mcp:s:now')]);
    if (!named) throw new Error('no name');
    expect(toProviderTools('gemini', [named])).toEqual([
      { functionDeclarations: [{ name: 'now', description: 'A tool' }] },
    ]);
    expect(toProviderTools('anthropic', [named])).toEqual([
      { name: 'now', description: 'A tool', input_schema: { type: 'object', properties: {} } },
    ]);
    expect(toProviderTools('gemini', [])).toEqual([]);
  });

  test.each(['openai', 'openai_responses', 'anthropic', 'gemini'] as const)(
    'every built-in tool can be offered to %s',
    (provider) => {
      const offered = toProviderTools(provider, nameTools(BUILTIN_TOOLS));
      expect(offered).toHaveLength(provider === 'gemini' ? 1 : BUILTIN_TOOLS.length);
      for (const description of JSON.stringify(offered).match(/"description":"[^"]*"/g) ?? [])
        expect(description.length).toBeLessThan(1100);
    },
  );
});
