import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '@capstan/contracts';
import type { Evaluation, Keyword } from '../evaluate-schema.js';
import { messageFor } from '../messages.js';
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

const sameJson = (one: Json, other: Json): boolean => one === other || isDeepStrictEqual(one, other);

const onNumber =
  (keyword: string, isRight: (value: number, limit: number) => boolean): Keyword =>
  (limit, { value, fail }) => {
    if (typeof value === 'number' && typeof limit === 'number' && !isRight(value, limit))
      fail(messageFor(keyword, limit, value));
  };

const onSize =
  (
    keyword: string,
    sizeOf: (value: Json) => number | null,
    isRight: (size: number, limit: number) => boolean,
  ): Keyword =>
  (limit, { value, fail }) => {
    const size = sizeOf(value);
    if (size !== null && typeof limit === 'number' && !isRight(size, limit)) fail(messageFor(keyword, limit, value));
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
    if (!types.some((type) => typeof type === 'string' && TYPES[type]?.(value)))
      fail(messageFor('type', expected, value));
  },
  enum: (allowed, { value, fail }) => {
    if (Array.isArray(allowed) && !allowed.some((one) => sameJson(one, value)))
      fail(messageFor('enum', allowed, value));
  },
  const: (expected, { value, fail }) => {
    if (!sameJson(expected, value)) fail(messageFor('const', expected, value));
  },
  maximum: onNumber('maximum', (value, limit) => value <= limit),
  exclusiveMaximum: onNumber('exclusiveMaximum', (value, limit) => value < limit),
  minimum: onNumber('minimum', (value, limit) => value >= limit),
  exclusiveMinimum: onNumber('exclusiveMinimum', (value, limit) => value > limit),
  multipleOf: onNumber('multipleOf', (value, factor) => Number.isInteger(value / factor)),
  maxLength: onSize('maxLength', characters, atMost),
  minLength: onSize('minLength', characters, atLeast),
  maxItems: onSize('maxItems', items, atMost),
  minItems: onSize('minItems', items, atLeast),
  maxProperties: onSize('maxProperties', properties, atMost),
  minProperties: onSize('minProperties', properties, atLeast),
  pattern: (pattern, { value, fail, matcher }) => {
    if (typeof value === 'string' && typeof pattern === 'string' && !matcher(pattern).test(value))
      fail(messageFor('pattern', pattern, value));
  },
  uniqueItems: (wanted, { value, fail }) => {
    if (wanted === true && Array.isArray(value) && !areUnique(value)) fail(messageFor('uniqueItems', wanted, value));
  },
  required: missing,
  dependentRequired: (dependencies, evaluation) => {
    if (!isObject(dependencies) || !isObject(evaluation.value)) return;
    for (const [name, others] of Object.entries(dependencies))
      if (Object.hasOwn(evaluation.value, name)) missing(others, evaluation);
  },
};
