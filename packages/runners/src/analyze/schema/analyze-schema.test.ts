import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { analyzeSchema } from './analyze-schema.js';

const run = (inputs: JsonObject) => analyzeSchema(inputs);

describe('infer', () => {
  const samples = [
    { id: 1, tags: ['a'], at: '2024-05-06T07:08:09Z', owner: { email: 'ann@example.com' }, note: null },
    {
      id: 2.5,
      tags: [],
      at: '2024-05-07T07:08:09Z',
      owner: { email: 'bob@example.com', age: 40 },
      note: 'x',
      extra: true,
    },
  ];

  test('finds types, required members, formats and what is nested', () => {
    expect(run({ operation: 'infer', samples })).toMatchObject({
      success: true,
      payload: {
        samples: 2,
        schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          required: ['at', 'id', 'note', 'owner', 'tags'],
          properties: {
            id: { type: 'number' },
            tags: { type: 'array', items: { type: 'string' } },
            at: { type: 'string', format: 'date-time' },
            note: { type: ['null', 'string'] },
            extra: { type: 'boolean' },
            owner: { required: ['email'], properties: { email: { format: 'email' }, age: { type: 'integer' } } },
          },
        },
      },
    });
  });

  test('what it infers takes every sample, and the order of samples does not matter', () => {
    const inferred = run({ operation: 'infer', samples });
    expect(run({ operation: 'infer', samples: samples.toReversed() })).toEqual(inferred);
    const schema = inferred.success ? (inferred.payload as { schema: JsonObject }).schema : {};
    for (const document of samples)
      expect(run({ operation: 'validate', schema, document })).toMatchObject({ payload: { valid: true } });
  });
});

describe('validate', () => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' }, b: { pattern: '^x+$' } } };

  test('says where a document is wrong', () => {
    expect(run({ operation: 'validate', schema, document: { a: 1, b: 'xx' } })).toMatchObject({
      payload: { valid: true },
    });
    expect(run({ operation: 'validate', schema, document: { b: 'y' } })).toMatchObject({
      success: true,
      payload: {
        valid: false,
        errors: [
          { path: '/a', keyword: 'required' },
          { path: '/b', keyword: 'pattern' },
        ],
      },
    });
  });

  test('a pattern that would take for ever elsewhere takes no time', () => {
    const document = `${'a'.repeat(50_000)}!`;
    expect(run({ operation: 'validate', schema: { pattern: '^(a+)+$' }, document })).toMatchObject({
      payload: { valid: false },
    });
  });

  test.each([{ type: 'nonsense' }, { $ref: 'https://example.com/other.json' }, { pattern: '(' }])(
    'a schema that cannot be used is refused: %o',
    (broken) => {
      expect(run({ operation: 'validate', schema: broken, document: {} })).toMatchObject({
        success: false,
        kind: 'INVALID_INPUTS',
        error: expect.stringContaining('the schema cannot be used'),
      });
    },
  );
});

describe('diff', () => {
  const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    ...more,
  });
  const text = { type: 'string' };

  test.each<[string, JsonObject, JsonObject, string, string[]]>([
    [
      'a required member more',
      object({ a: text }),
      object({ a: text }, { required: ['a'] }),
      'required added',
      ['writers'],
    ],
    [
      'a required member less',
      object({ a: text }, { required: ['a'] }),
      object({ a: text }),
      'required removed',
      ['readers'],
    ],
    ['an optional member more', object({}), object({ a: text }), 'property added', []],
    [
      'a member more where none else may be',
      object({}, { additionalProperties: false }),
      object({ a: text }, { additionalProperties: false }),
      'property added',
      ['readers'],
    ],
    [
      'a member less where none else may be',
      object({ a: text }, { additionalProperties: false }),
      object({}, { additionalProperties: false }),
      'property removed',
      ['writers'],
    ],
    ['a type less', { type: ['string', 'null'] }, text, 'type removed', ['writers']],
    ['a type more', text, { type: ['string', 'null'] }, 'type added', ['readers']],
    ['an integer to a number', { type: 'integer' }, { type: 'number' }, 'type added', ['readers']],
    ['a value less', { enum: ['a', 'b'] }, { enum: ['a'] }, 'enum value removed', ['writers']],
    ['a value more', { enum: ['a'] }, { enum: ['a', 'b'] }, 'enum value added', ['readers']],
    ['a tighter bound', { maximum: 10 }, { maximum: 5 }, 'maximum changed', ['writers']],
    ['a looser bound', { minLength: 3 }, {}, 'minLength removed', ['readers']],
    ['another pattern', { pattern: 'a' }, { pattern: 'b' }, 'pattern changed', ['writers', 'readers']],
    [
      'a closed object',
      object({}),
      object({}, { additionalProperties: false }),
      'additionalProperties closed',
      ['writers'],
    ],
    [
      'another combination',
      { anyOf: [text] },
      { anyOf: [{ type: 'number' }] },
      'anyOf changed',
      ['writers', 'readers'],
    ],
  ])('%s', (_, before, after, change, breaks) => {
    const outcome = run({ operation: 'diff', before, after });
    expect(outcome).toMatchObject({
      success: true,
      payload: {
        identical: false,
        compatible: { writers: !breaks.includes('writers'), readers: !breaks.includes('readers') },
        changes: [{ change, breaks }],
      },
    });
  });

  test('looks into members, items and references, and says where', () => {
    const before = object(
      { list: { type: 'array', items: { $ref: '#/$defs/item' } } },
      { $defs: { item: object({ 'a/b': text }) } },
    );
    const after = object({ list: { type: 'array', items: object({ 'a/b': { type: 'number' } }) } });
    expect(run({ operation: 'diff', before, after })).toMatchObject({
      payload: {
        changes: [
          { path: '/list/*/a~1b', change: 'type removed' },
          { path: '/list/*/a~1b', change: 'type added' },
        ],
      },
    });
  });

  test('what only tells changes nothing, nor does the order of members', () => {
    const before = object({ a: text, b: { ...text, description: 'x' } });
    const after = { properties: { b: text, a: text }, type: 'object', title: 'T' };
    expect(run({ operation: 'diff', before, after })).toMatchObject({ payload: { identical: true, changes: [] } });
  });

  test('a schema that refers to itself comes to an end', () => {
    const tree = object({ next: { $ref: '#' } });
    expect(run({ operation: 'diff', before: tree, after: tree })).toMatchObject({ payload: { identical: true } });
  });
});

test.each([
  {},
  { operation: 'guess' },
  { operation: 'infer' },
  { operation: 'infer', samples: [] },
  { operation: 'validate', schema: 1, document: 1 },
  { operation: 'diff', before: {} },
])('refuses %o', (inputs) => {
  expect(run(inputs)).toMatchObject({ success: false, kind: 'INVALID_INPUTS' });
});
