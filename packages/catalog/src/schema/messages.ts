import { isObject } from '@capstan/contracts';
import { URL_PATTERN } from './url-pattern.js';

const KINDS: Record<string, string> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  string: 'a string',
  array: 'a list',
  object: 'an object',
};

/** The type of a value, without the value itself, which may be a secret. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'an object';
  return typeof value === 'boolean' ? `${value}` : `a ${typeof value}`;
}

/** Words are shown as they are; anything else as JSON. */
const choiceOf = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value);

const count = (limit: unknown, one: string): string =>
  `${limit} ${limit === 1 ? one : one === 'property' ? 'properties' : `${one}s`}`;
const atLeast = (one: string) => (limit: unknown) =>
  limit === 1 ? 'must not be empty' : `must have at least ${count(limit, one)}`;
const atMost = (one: string) => (limit: unknown) => `must have at most ${count(limit, one)}`;

/** The mistake by keyword, worded to follow the name of the field. */
const MESSAGES: Record<string, (expected: unknown, value: unknown) => string> = {
  type: (expected, value) => {
    const wanted = (Array.isArray(expected) ? expected : [expected]).map((type) => KINDS[String(type)] ?? String(type));
    const given = typeof value === 'number' && wanted.includes('a whole number') ? 'a fraction' : kindOf(value);
    return `must be ${wanted.join(' or ')}, not ${given}`;
  },
  enum: (allowed) =>
    `must be one of ${Array.isArray(allowed) ? allowed.map(choiceOf).join(', ') : JSON.stringify(allowed)}`,
  const: (expected) => `must be ${JSON.stringify(expected)}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  minimum: (limit) => `must be at least ${limit}`,
  exclusiveMinimum: (limit) => `must be more than ${limit}`,
  multipleOf: (factor) => (factor === 1 ? 'must be a whole number' : `must be a multiple of ${factor}`),
  maxLength: atMost('character'),
  minLength: atLeast('character'),
  maxItems: atMost('item'),
  minItems: atLeast('item'),
  maxProperties: atMost('property'),
  minProperties: atLeast('property'),
  pattern: (pattern) =>
    pattern === URL_PATTERN ? 'must begin with http:// or https://' : `must match the pattern ${pattern}`,
  uniqueItems: () => 'must not have equal items',
  anyOf: () => 'has none of the forms that are accepted',
  oneOf: () => 'must have exactly one of the forms that are accepted',
  contains: () => 'has too few or too many items of the form that is required',
  propertyNames: () => 'has a field with a name that is not accepted',
  if: () => 'is not accepted together with the other fields',
  not: () => 'has a form that is not accepted',
  'false schema': () => 'is not accepted',
};

export const messageFor = (keyword: string, expected: unknown, value: unknown): string =>
  MESSAGES[keyword]?.(expected, value) ?? 'is not valid';
