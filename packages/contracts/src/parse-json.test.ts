import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonError, parseJson } from './parse-json.js';

const nested = (depth: number, open = '[', close = ']') => open.repeat(depth) + close.repeat(depth);
const refusal = (text: string): JsonError => {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error('it was taken');
};

describe('untrusted JSON', () => {
  test('is parsed as by JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), fc.boolean(), (text, spread) => {
        const sent = spread ? JSON.stringify(JSON.parse(text), null, 2) : text;
        expect(parseJson(sent)).toEqual(JSON.parse(sent));
      }),
    );
  });

  test('may be 128 levels deep', () => {
    expect(parseJson(nested(128))).toEqual(JSON.parse(nested(128)));
    expect(parseJson(nested(128, '{"a":', '}').replace('}', '1}'))).toBeTypeOf('object');
  });

  test.each([129, 3000, 6000, 200_000])('that is %i levels deep is refused with the position', (depth) => {
    expect(refusal(`{"a":\n${nested(depth)}}`).place).toEqual({ line: 2, column: 128 });
    expect(refusal(nested(depth, '{"a":', '}')).place).toEqual({ line: 1, column: 641 });
    expect(refusal('['.repeat(depth)).message).toContain('nested deeper than 128 levels');
  });

  test('may have any number of brackets in strings', () => {
    const text = JSON.stringify(['['.repeat(500), `\\"${'{'.repeat(500)}`, '\\', '[']);
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('that is invalid is refused with the position of the error', () => {
    expect(refusal('{"a": 1,\n "b" 2}').place).toEqual({ line: 2, column: 6 });
    expect(refusal('{"a": ').message).toMatch(/JSON/);
  });
});
