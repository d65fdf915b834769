import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '../create-redactor.js';
import { SOURCES } from './sources.js';
import { parseShape } from './vendor-rules.js';
import { VENDOR_TOKENS } from './vendor-tokens.js';

const redactor = createRedactor({ values: [] });

/** A random token of this format. */
const tokenOf = (prefix: string, shape: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...parseShape(shape).map((part) => {
        if (!('run' in part)) return fc.constantFrom(...part);
        const chars = [...part.run.keys()].filter(
          (code) => part.run[code] === 1 && /[A-Za-z0-9]/.test(String.fromCharCode(code)),
        );
        const members = chars
          .map((code) => String.fromCharCode(code))
          .filter((char) => !/x/i.test(char) || chars.length < 20);
        return fc.string({
          unit: fc.constantFrom(...members),
          minLength: part.min,
          maxLength: Math.min(part.max, part.min + 20),
        });
      }),
    )
    .map((parts) => prefix + parts.join(''));

const CASES = VENDOR_TOKENS.flatMap(([id, prefixes, shape]) =>
  prefixes.split(' ').map((prefix) => ({ id, prefix, shape })),
);

describe('vendor tokens', () => {
  test.each(CASES)(
    '$prefix ($id) is redacted bare, in prose, in a variable and in JSON, wherever it is cut',
    ({ prefix, shape }) => {
      // Skip tokens that by chance consist of few different characters, which real tokens do not.
      const random = tokenOf(prefix, shape).filter((token) => new Set(token.slice(prefix.length)).size > 8);
      fc.assert(
        fc.property(random, fc.nat(200), (token, at) => {
          for (const [before, after] of [
            ['', ''],
            ['see ', ', and more'],
            ['export MY_', '\n'],
            ['{"a":"', '","b":1}'],
          ]) {
            const text = `${before}${token}${after}`;
            const redacted = redactor.text(text);
            expect(redacted).not.toContain(token.slice(-8));
            const { push, end } = redactor.stream();
            expect(push(text.slice(0, at)) + push(text.slice(at)) + end()).toBe(redacted);
          }
        }),
        { numRuns: 5, seed: 7 },
      );
    },
  );

  test.each(CASES)('$prefix ($id) followed by a row of x or by prose is not a token', ({ prefix, shape }) => {
    const length = parseShape(shape).reduce(
      (sum, part) => sum + ('run' in part ? part.min : (part[0]?.length ?? 0)),
      0,
    );
    for (const text of [`${prefix}${'x'.repeat(length)}`, `${prefix} is the prefix`, `${prefix}YOUR_TOKEN_HERE`])
      expect(redactor.text(text)).toBe(text);
  });

  test('all have a dated source', () => {
    for (const [id, , , source] of VENDOR_TOKENS) expect(SOURCES, id).toHaveProperty(source);
    for (const { date } of Object.values(SOURCES)) expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  test('a signed request keeps its key id and loses its signature', () => {
    const signature = 'fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024';
    expect(redactor.text(`https://x.s3.amazonaws.com/a?X-Amz-Expires=900&X-Amz-Signature=${signature}&x=1`)).toBe(
      'https://x.s3.amazonaws.com/a?X-Amz-Expires=900&X-Amz-Signature=[REDACTED]&x=1',
    );
    expect(redactor.text(`SignedHeaders=host, Signature=${signature}`)).toBe(
      'SignedHeaders=host, Signature=[REDACTED]',
    );
  });

  test('a key of Azure is redacted from its marker on', () => {
    const key = 'AbcDeFgHiJ0KLmnOpQrStUvWxYz12JlQEd9AcTG4pEWdjbSmPysw2JQQJ99BDACfhMk5XJ3w3AAABACOGkDUM';
    expect(redactor.text(key)).toBe(`${key.slice(0, key.indexOf('JQQJ99'))}[REDACTED]`);
  });

  test.each([
    ['a bot of Discord', 'MTE5NDAxMjM0NTY3ODkwMTIzNA.GkT3xq.uW8h3Yx1ZpQv9nRk5mLs2jDf7bGcAe4tHoKi6w'],
    ['a bot of Telegram', '7123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw8'],
    [
      'a GitHub app',
      'ghs_12345_eyJhbGciOiJSUzI1NiJ9.eyJpYXQiOjE3NDU1NjgwMDAsImV4cCI6MTc0NTU2ODM2MH0.SflKxwRJSMeKKF2QT4fwpM',
    ],
    ['Google', 'ya29.a0AfH6SMBx7Qk9Zt2Lw4Rv8Np1Mc6Jd3Hs5Gf0Ey'],
  ])('the token of %s is redacted', (_, token) => {
    expect(redactor.text(`token ${token} leaked`)).toBe(
      token.startsWith('7') ? 'token 7123456789[REDACTED] leaked' : 'token [REDACTED] leaked',
    );
  });
});
