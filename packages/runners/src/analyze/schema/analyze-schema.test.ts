import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { analyzeSchema } from './analyze-schema.js';

const run = (inputs: JsonObject, max_bytes = 1_000_000) => analyzeSchema({ inputs, max_bytes });

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

test('text that only looks like a date or an address is inferred as text', () => {
  const samples = [{ day: '2024-02-31', email: 'ann@localhost' }];
  expect(run({ operation: 'infer', samples })).toMatchObject({
    payload: { schema: { properties: { day: { type: 'string' }, email: { type: 'string' } } } },
  });
  const inferred = run({ operation: 'infer', samples });
  expect(JSON.stringify(inferred)).not.toContain('format');
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

  test.each([
    ['date', '2024-02-29', '2024-02-30'],
    ['date-time', '2024-05-06T07:08:09Z', '2024-05-06'],
    ['email', 'ann@example.com', 'ann'],
    ['uuid', '0b0a1f0e-9f57-4c4c-8f4e-0d5d1b0c3f11', '0b0a1f0e'],
    ['uri', 'https://example.com/a', 'example.com a'],
  ])('text has to be of its format: %s', (format, right, wrong) => {
    const validate = (document: string) => run({ operation: 'validate', schema: { format }, document });
    expect(validate(right)).toMatchObject({ payload: { valid: true } });
    expect(validate(wrong)).toMatchObject({ payload: { valid: false, errors: [{ keyword: 'format' }] } });
  });

  test('a format that is not known takes any text', () => {
    expect(run({ operation: 'validate', schema: { format: 'shoe-size' }, document: 'x' })).toMatchObject({
      payload: { valid: true },
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
  const number = { type: 'number' };
  const BOTH = ['writers', 'readers'];

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
    ['another pattern', { pattern: 'a' }, { pattern: 'b' }, 'pattern changed', BOTH],
    [
      'a closed object',
      object({}),
      object({}, { additionalProperties: false }),
      'additionalProperties closed',
      ['writers'],
    ],
    [
      'a member with a name that every object has',
      object({ constructor: text }, { additionalProperties: false }),
      object({}, { additionalProperties: false }),
      'property removed',
      ['writers'],
    ],
    [
      'other unevaluated items',
      { unevaluatedItems: text },
      { unevaluatedItems: false },
      'unevaluatedItems changed',
      BOTH,
    ],
    ['another list of items', { items: [text] }, { items: [{ type: 'number' }] }, 'items changed', BOTH],
    ['another document', { $ref: 'a.json' }, { $ref: 'b.json' }, '$ref changed', BOTH],
    ['another combination', { anyOf: [text] }, { anyOf: [{ type: 'number' }] }, 'anyOf changed', BOTH],
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

  test.each<[string, (item: JsonObject) => JsonObject]>([
    ['over many steps', (item) => ({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: item } })],
    ['by name', (item) => ({ $ref: '#item', $defs: { a: { $anchor: 'item', ...item } } })],
    ['by an old name', (item) => ({ $ref: '#item', definitions: { a: { $id: '#item', ...item } } })],
    [
      'by address',
      (item) => ({ $ref: 'item.json', $id: 'https://a.example/', $defs: { a: { $id: '/item.json', ...item } } }),
    ],
    ['within an address', (item) => ({ $ref: 'b#/$defs/c', $defs: { b: { $id: 'b', $defs: { c: item } } } })],
    [
      'to the address of the schema',
      (item) => ({ $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/a', $defs: { a: item } }),
    ],
    ['into a list', (item) => ({ $ref: '#/$defs/a/allOf/1', $defs: { a: { allOf: [{}, item] } } })],
    [
      'in a circle',
      (item) => ({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b', ...item }, b: { $ref: '#/$defs/a' } } }),
    ],
    ['beside other rules', (item) => ({ $ref: '#/$defs/a', minLength: 1, $defs: { a: item } })],
    [
      'beside a rule of the same kind',
      (item) => ({ $ref: '#/$defs/a', type: ['string', 'number'], $defs: { a: item } }),
    ],
    [
      'from a combination',
      (item) => ({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b' }, b: item } }),
    ],
    ['from other members', (item) => ({ additionalProperties: { $ref: '#/$defs/a' }, $defs: { a: item } })],
    ['while it runs', (item) => ({ $dynamicRef: '#item', $defs: { a: { $dynamicAnchor: 'item', ...item } } })],
  ])('a change that is found by reference: %s', (_, schema) => {
    const [before, after] = [schema(text), schema(number)];
    expect(run({ operation: 'diff', before, after })).toMatchObject({
      payload: { identical: false, compatible: { writers: false, readers: false } },
    });
    expect(run({ operation: 'diff', before, after: structuredClone(before) })).toMatchObject({
      payload: { identical: true },
    });
  });

  test('a member that is named no more is what other members may be', () => {
    const others = { additionalProperties: number };
    expect(run({ operation: 'diff', before: object({ a: text }, others), after: object({}, others) })).toMatchObject({
      payload: {
        compatible: { writers: false, readers: false },
        changes: [
          { change: 'property removed' },
          { path: '/a', change: 'type removed' },
          { path: '/a', change: 'type added' },
        ],
      },
    });
    expect(run({ operation: 'diff', before: object({ a: number }, others), after: object({}, others) })).toMatchObject({
      payload: { compatible: { writers: true, readers: true } },
    });
  });

  test('a schema that refers to itself comes to an end', () => {
    const tree = object({ a: { $ref: '#' }, b: { $ref: '#' } });
    expect(run({ operation: 'diff', before: tree, after: tree })).toMatchObject({ payload: { identical: true } });
    expect(run({ operation: 'diff', before: tree, after: object({}) })).toMatchObject({
      payload: { changes: [{ path: '/a' }, { path: '/b' }] },
    });
    expect(run({ operation: 'diff', before: { items: { $ref: '#' } }, after: {} })).toMatchObject({ success: true });
  });

  test('what a schema refers to many times over is compared a bounded number of times', () => {
    const levels = (lowest: JsonObject): JsonObject => {
      const $defs: JsonObject = { level0: lowest };
      for (let level = 1; level <= 60; level += 1) {
        const below = { $ref: `#/$defs/level${level - 1}` };
        $defs[`level${level}`] = object({ a: below, b: below });
      }
      return { $defs, $ref: '#/$defs/level60' };
    };
    expect(run({ operation: 'diff', before: levels(text), after: levels(number) })).toMatchObject({
      payload: { compatible: { writers: false, readers: false } },
    });
  });

  test('what changed is told of at each place that refers to it', () => {
    const twice = (item: JsonObject) =>
      object({ a: { $ref: '#/$defs/item' }, b: { $ref: '#/$defs/item' } }, { $defs: { item } });
    expect(run({ operation: 'diff', before: twice(text), after: twice({}) })).toMatchObject({
      payload: {
        changes: [
          { path: '/a', change: 'type added' },
          { path: '/b', change: 'type added' },
        ],
      },
    });
  });
});

test('what it answers is kept within the limit, and it says that there is more', () => {
  const choice = { $ref: '#/$defs/choice' };
  const schema = (choices: string[]) => ({
    properties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, choice])),
    $defs: { choice: { enum: choices } },
  });
  const long = 'x'.repeat(200);
  const diff = run({ operation: 'diff', before: schema([long]), after: schema([long, 'y']) }, 5000);
  expect(diff).toMatchObject({ truncated: true, payload: { compatible: { writers: true, readers: false } } });
  const document = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`${long}${index}`, 1]));
  const validation = run({ operation: 'validate', schema: { additionalProperties: false }, document }, 5000);
  expect(validation).toMatchObject({ truncated: true, payload: { valid: false } });
  for (const { payload } of [diff, validation]) {
    const { length } = JSON.stringify(payload);
    expect(length).toBeGreaterThan(4000);
    expect(length).toBeLessThanOrEqual(5000);
  }
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
