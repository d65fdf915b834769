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

  test('finds types, required members, formats and nested schemas', () => {
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

  test('an inferred schema accepts every sample, and does not depend on the order of samples', () => {
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

  test('reports where a document is invalid', () => {
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

  test('an unknown format accepts any text', () => {
    expect(run({ operation: 'validate', schema: { format: 'shoe-size' }, document: 'x' })).toMatchObject({
      payload: { valid: true },
    });
  });

  test('a pattern that would backtrack forever is matched quickly', () => {
    const document = `${'a'.repeat(50_000)}!`;
    expect(run({ operation: 'validate', schema: { pattern: '^(a+)+$' }, document })).toMatchObject({
      payload: { valid: false },
    });
  });

  test.each([{ type: 'nonsense' }, { $ref: 'https://example.com/other.json' }, { pattern: '(' }])(
    'an invalid schema is refused: %o',
    (broken) => {
      expect(run({ operation: 'validate', schema: broken, document: {} })).toMatchObject({
        success: false,
        kind: 'INVALID_INPUTS',
        error: expect.stringContaining('the schema cannot be used'),
      });
    },
  );
});

test('the answer is kept within the limit, and reports that it was truncated', () => {
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
