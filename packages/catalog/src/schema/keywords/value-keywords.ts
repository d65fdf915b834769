import { isDeepStrictEqual } from 'node:util';
import type { Json } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import { isObject } from '../subschemas.js';
import { areUnique } from '../unique-items.js';

const TYPES: Record<string, (value: Json) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: isObject,
};

export const sameJson = (one: Json, other: Json): boolean => one === other || isDeepStrictEqual(one, other);

const onNumber =
  (isRight: (value: number, limit: number) => boolean, words: string): Keyword =>
  (limit, { value, fail }) => {
    if (typeof value === 'number' && typeof limit === 'number' && !isRight(value, limit))
      fail(`must be ${words} ${limit}`);
  };

const onSize =
  (sizeOf: (value: Json) => number | null, isRight: (size: number, limit: number) => boolean, words: string): Keyword =>
  (limit, { value, fail }) => {
    const size = sizeOf(value);
    if (size !== null && typeof limit === 'number' && !isRight(size, limit)) fail(`must have ${words} ${limit}`);
  };

const characters = (value: Json) => (typeof value === 'string' ? [...value].length : null);
const items = (value: Json) => (Array.isArray(value) ? value.length : null);
const properties = (value: Json) => (isObject(value) ? Object.keys(value).length : null);
const atMost = (size: number, limit: number) => size <= limit;
const atLeast = (size: number, limit: number) => size >= limit;

const missing = (names: Json, { value, fail }: Evaluation): void => {
  if (!isObject(value) || !Array.isArray(names)) return;
  for (const name of names) if (typeof name === 'string' && !Object.hasOwn(value, name)) fail('is required', name);
};

export const VALUE_KEYWORDS: Record<string, Keyword> = {
  type: (expected, { value, fail }) => {
    const types = Array.isArray(expected) ? expected : [expected];
    if (!types.some((type) => typeof type === 'string' && TYPES[type]?.(value))) fail(`must be ${types.join(' or ')}`);
  },
  enum: (allowed, { value, fail }) => {
    if (Array.isArray(allowed) && !allowed.some((one) => sameJson(one, value)))
      fail(`must be one of ${JSON.stringify(allowed)}`);
  },
  const: (expected, { value, fail }) => {
    if (!sameJson(expected, value)) fail(`must be ${JSON.stringify(expected)}`);
  },
  maximum: onNumber((value, limit) => value <= limit, 'at most'),
  exclusiveMaximum: onNumber((value, limit) => value < limit, 'less than'),
  minimum: onNumber((value, limit) => value >= limit, 'at least'),
  exclusiveMinimum: onNumber((value, limit) => value > limit, 'more than'),
  multipleOf: onNumber((value, factor) => Number.isInteger(value / factor), 'a multiple of'),
  maxLength: onSize(characters, atMost, 'no more characters than'),
  minLength: onSize(characters, atLeast, 'no fewer characters than'),
  maxItems: onSize(items, atMost, 'no more items than'),
  minItems: onSize(items, atLeast, 'no fewer items than'),
  maxProperties: onSize(properties, atMost, 'no more properties than'),
  minProperties: onSize(properties, atLeast, 'no fewer properties than'),
  pattern: (pattern, { value, fail, matcher }) => {
    if (typeof value === 'string' && typeof pattern === 'string' && !matcher(pattern).test(value))
      fail(`must match pattern "${pattern}"`);
  },
  uniqueItems: (wanted, { value, fail }) => {
    if (wanted === true && Array.isArray(value) && !areUnique(value)) fail('must not have equal items');
  },
  required: missing,
  dependentRequired: (dependencies, evaluation) => {
    if (!isObject(dependencies) || !isObject(evaluation.value)) return;
    for (const [name, others] of Object.entries(dependencies))
      if (Object.hasOwn(evaluation.value, name)) missing(others, evaluation);
  },
};
