import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.js';

/** The test data of RFC 8785's authors, as another implementation publishes it. */
const corpus = new URL('../../../node_modules/@truestamp/canonify/tests/testdata/', import.meta.url);

describe('the cases of the RFC’s authors', () => {
  const names = readdirSync(new URL('input/', corpus));
  test.each(names)('the canonical form of %s is correct byte for byte', (name) => {
    const input: unknown = JSON.parse(readFileSync(new URL(`input/${name}`, corpus), 'utf8'));
    const bytes = Buffer.from(canonicalJson(input));
    expect(bytes).toEqual(readFileSync(new URL(`output/${name}`, corpus)));
    const hex = readFileSync(new URL(`outhex/${name.replace('.json', '.txt')}`, corpus), 'utf8').replace(/\s+/g, '');
    expect(bytes.toString('hex')).toBe(hex);
  });
});

// Appendix B of RFC 8785: IEEE 754 bits and the expected text.
const NUMBERS: [bits: string, text: string][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

test.each(NUMBERS)('the double %s is written as %s', (bits, text) => {
  expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('%s has no canonical form and is refused', (value) => {
  expect(() => canonicalJson({ value })).toThrow('not a JSON number');
});

test('a lone surrogate is refused as a value and as a key', () => {
  expect(() => canonicalJson('\ud800')).toThrow('surrogate');
  expect(() => canonicalJson({ '\udc00': 1 })).toThrow('surrogate');
});

test('a __proto__ member is written like any other', () => {
  expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
});

test('the canonical form does not depend on the order of members, and parses back to the value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(reversed(JSON.parse(text)))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
