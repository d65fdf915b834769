import { expect, test } from 'vitest';
import { schemaToType } from './schema-to-type.js';

const typeOf = (schema: Parameters<typeof schemaToType>[0]) => schemaToType(schema).replace(/\s+/g, ' ');

test('references within a schema are resolved, including circular ones', () => {
  const $defs = { money: { type: 'object', properties: { 'a/b': { type: 'number' } }, required: ['a/b'] } };
  const schema = { type: 'object', properties: { price: { $ref: '#/$defs/money' } }, required: ['price'], $defs };
  expect(typeOf(schema)).toBe('{ price: { "a/b": number; }; }');
  expect(typeOf({ $ref: '#/$defs/money/properties/a~1b', $defs })).toBe('number');
  expect(typeOf({ type: 'array', items: { $ref: '#' } })).toMatch(/^\(+unknown[)\][]+$/);
  expect(typeOf({ $ref: 'https://elsewhere.example/schema' })).toBe('unknown');
});

test('a schema with allOf becomes an intersection', () => {
  const named = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  const aged = { type: 'object', properties: { age: { type: 'integer' } } };
  expect(typeOf({ allOf: [named, aged, { minProperties: 1 }] })).toBe('({ name: string; }) & ({ age?: number; })');
});

test('a list of alternatives becomes a list of a union', () => {
  expect(typeOf({ type: 'array', items: { anyOf: [{ type: 'string' }, { enum: [1, null] }] } })).toBe(
    '(string | 1 | null)[]',
  );
});
