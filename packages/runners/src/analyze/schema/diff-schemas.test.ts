import type { JsonObject } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { analyzeSchema } from './analyze-schema.js';

const diff = (before: JsonObject, after: JsonObject) =>
  analyzeSchema({ inputs: { operation: 'diff', before, after }, max_bytes: 1_000_000 });
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
  const outcome = diff(before, after);
  expect(outcome).toMatchObject({
    success: true,
    payload: {
      identical: false,
      compatible: { writers: !breaks.includes('writers'), readers: !breaks.includes('readers') },
      changes: [{ change, breaks }],
    },
  });
});

test('compares members, items and references, and reports the path', () => {
  const before = object(
    { list: { type: 'array', items: { $ref: '#/$defs/item' } } },
    { $defs: { item: object({ 'a/b': text }) } },
  );
  const after = object({ list: { type: 'array', items: object({ 'a/b': { type: 'number' } }) } });
  expect(diff(before, after)).toMatchObject({
    payload: {
      changes: [
        { path: '/list/*/a~1b', change: 'type removed' },
        { path: '/list/*/a~1b', change: 'type added' },
      ],
    },
  });
});

test('annotations and the order of members are not changes', () => {
  const before = object({ a: text, b: { ...text, description: 'x' } });
  const after = { properties: { b: text, a: text }, type: 'object', title: 'T' };
  expect(diff(before, after)).toMatchObject({ payload: { identical: true, changes: [] } });
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
  ['beside a rule of the same kind', (item) => ({ $ref: '#/$defs/a', type: ['string', 'number'], $defs: { a: item } })],
  ['from a combination', (item) => ({ anyOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/b' }, b: item } })],
  ['from other members', (item) => ({ additionalProperties: { $ref: '#/$defs/a' }, $defs: { a: item } })],
  ['while it runs', (item) => ({ $dynamicRef: '#item', $defs: { a: { $dynamicAnchor: 'item', ...item } } })],
])('a change that is found by reference: %s', (_, schema) => {
  const [before, after] = [schema(text), schema(number)];
  expect(diff(before, after)).toMatchObject({
    payload: { identical: false, compatible: { writers: false, readers: false } },
  });
  expect(diff(before, structuredClone(before))).toMatchObject({
    payload: { identical: true },
  });
});

test('a removed member falls under the schema of other members', () => {
  const others = { additionalProperties: number };
  expect(diff(object({ a: text }, others), object({}, others))).toMatchObject({
    payload: {
      compatible: { writers: false, readers: false },
      changes: [
        { change: 'property removed' },
        { path: '/a', change: 'type removed' },
        { path: '/a', change: 'type added' },
      ],
    },
  });
  expect(diff(object({ a: number }, others), object({}, others))).toMatchObject({
    payload: { compatible: { writers: true, readers: true } },
  });
});

test('recursive schemas are compared in finite time', () => {
  const tree = object({ a: { $ref: '#' }, b: { $ref: '#' } });
  expect(diff(tree, tree)).toMatchObject({ payload: { identical: true } });
  expect(diff(tree, object({}))).toMatchObject({
    payload: { changes: [{ path: '/a' }, { path: '/b' }] },
  });
  expect(diff({ items: { $ref: '#' } }, {})).toMatchObject({ success: true });
});

test('a schema with many references is compared a limited number of times', () => {
  const levels = (lowest: JsonObject): JsonObject => {
    const $defs: JsonObject = { level0: lowest };
    for (let level = 1; level <= 60; level += 1) {
      const below = { $ref: `#/$defs/level${level - 1}` };
      $defs[`level${level}`] = object({ a: below, b: below });
    }
    return { $defs, $ref: '#/$defs/level60' };
  };
  expect(diff(levels(text), levels(number))).toMatchObject({
    payload: { compatible: { writers: false, readers: false } },
  });
});

test('a change is reported at each place that refers to it', () => {
  const twice = (item: JsonObject) =>
    object({ a: { $ref: '#/$defs/item' }, b: { $ref: '#/$defs/item' } }, { $defs: { item } });
  expect(diff(twice(text), twice({}))).toMatchObject({
    payload: {
      changes: [
        { path: '/a', change: 'type added' },
        { path: '/b', change: 'type added' },
      ],
    },
  });
});
