import type { Json } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { storableText, wellFormed } from './storable.js';

describe('text for Postgres', () => {
  test('has NUL and lone surrogates replaced, and nothing else', () => {
    expect(storableText('a\u0000b\ud800c\udc00d')).toBe('a\ufffdb\ufffdc\ufffdd');
    expect(storableText('\u0001\t\n\u007f 👩‍👩‍👧 ünï')).toBe('\u0001\t\n\u007f 👩‍👩‍👧 ünï');
  });
});

describe('a value that has no canonical form', () => {
  test('is repaired at any depth', () => {
    const broken: Json = { 'key\ud800': ['\udc00', Number.NaN, Number.NEGATIVE_INFINITY, { deep: 'x\ud83d' }] };
    expect(wellFormed(broken)).toEqual({ 'key\ufffd': ['\ufffd', null, null, { deep: 'x\ufffd' }] });
  });

  test('keeps NUL, which JSON can hold', () => {
    expect(wellFormed({ text: '\u0000' })).toEqual({ text: '\u0000' });
  });

  test('keeps a member named __proto__', () => {
    const value: Json = JSON.parse('{"__proto__": "\\ud800"}');
    expect(JSON.stringify(wellFormed(value))).toBe('{"__proto__":"\ufffd"}');
  });

  test('can be hashed after the repair, and is unchanged if nothing was wrong', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json: Json = JSON.parse(JSON.stringify(value));
        expect(wellFormed(json)).toEqual(json);
        expect(hashJson(wellFormed([json, Number.NaN, '\ud800']))).toMatch(/^sha256:/);
      }),
      { numRuns: 50 },
    );
  });
});
