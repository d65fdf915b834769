import type { Json, JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compileSchema } from './compile-schema.js';
import { URL_PATTERN } from './url-pattern.js';

const messages = (schema: JsonObject, value: Json) => compileSchema(schema)(value).map(({ message }) => message);

describe('what a schema refuses is told in plain words', () => {
  test.each<[JsonObject, Json, string]>([
    [{ type: 'number' }, 'x', 'must be a number, not a string'],
    [{ type: 'integer' }, 1.5, 'must be a whole number, not a fraction'],
    [{ type: ['string', 'null'] }, 5, 'must be a string or null, not a number'],
    [{ type: 'boolean' }, 'yes', 'must be true or false, not a string'],
    [{ type: 'object' }, [], 'must be an object, not a list'],
    [{ type: 'string' }, true, 'must be a string, not true'],
    [{ enum: ['a', 'b'] }, 'c', 'must be one of a, b'],
    [{ enum: ['a b', 1, null] }, 'c', 'must be one of "a b", 1, null'],
    [{ type: 'string', pattern: URL_PATTERN }, 'example.com', 'must begin with http:// or https://'],
    [{ minimum: 3 }, 1, 'must be at least 3'],
    [{ exclusiveMaximum: 3 }, 3, 'must be less than 3'],
    [{ minLength: 1 }, '', 'must not be empty'],
    [{ maxLength: 1 }, 'ab', 'must have at most 1 character'],
    [{ minItems: 2 }, [1], 'must have at least 2 items'],
    [{ maxProperties: 0 }, { a: 1 }, 'must have at most 0 properties'],
    [{ pattern: '^a' }, 'b', 'must match the pattern ^a'],
    [{ uniqueItems: true }, [1, 1], 'must not have equal items'],
    [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, 'must have exactly one of the forms that are accepted'],
  ])('%j refuses %j, whichever of the two validators judges it', (schema, value, message) => {
    expect(messages(schema, value)).toEqual([message]);
    // A schema with an identity is judged by the evaluator of our own.
    expect(messages({ $id: 'https://example.com/a', ...schema }, value)).toEqual([message]);
  });
});
