import { describe, expect, test } from 'vitest';
import { createRedactor } from './create-redactor.js';

const VALUE = 'hunter2-of-the-tenant/9fKq';
const redactor = createRedactor({ values: [VALUE] });
const between = (noise: string) => [...VALUE].join(noise);
const wrapped = (text: string, width: number, end = '\n') =>
  text.match(new RegExp(`.{1,${width}}`, 'g'))?.join(end) ?? '';
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const hex = Buffer.from(VALUE).toString('hex');
const LONG = `${'some text before it, '.repeat(9)}${VALUE}${', and some after'.repeat(9)}`;

describe('a known value', () => {
  test.each([
    ['colours', between('\u001b[31m')],
    ['a colour of one character', between('\u009b1;31m')],
    ['bare escapes', between('\u001b')],
    ['zero-width characters', between('\u200b')],
    ['soft hyphens and joiners', between('\u00ad\u200d\u2060')],
    ['zero bytes, as UTF-16 has them', between('\u0000')],
    ['blanks', between(' ')],
    ['line ends', between('\n')],
    ['a line end and an indentation', wrapped(VALUE, 7, '\r\n        ')],
    ['the line ends of its base64', wrapped(base64(VALUE), 8)],
    ['the line ends of its base64 in UTF-16', wrapped(base64(Buffer.from(VALUE, 'utf16le')), 8)],
    ['blanks between its hexadecimal digits', hex.match(/../g)?.join(' ') ?? ''],
    ['colons between its hexadecimal digits', hex.match(/../g)?.join(':') ?? ''],
    ['escapes of its bytes', (hex.match(/../g) ?? []).map((pair) => `\\x${pair}`).join('')],
    ['escapes of its bytes in an address', (hex.match(/../g) ?? []).map((pair) => `%${pair.toUpperCase()}`).join('')],
    ['an array of its bytes', (hex.match(/../g) ?? []).map((pair) => `0x${pair}`).join(', ')],
  ])('is redacted although it is split by %s', (_, text) => {
    expect(redactor.text(`[${text}]`)).toBe('[[REDACTED]]');
    const { push, end } = redactor.stream();
    const pieces = [...`[${text}]`].map(push).join('') + end();
    // What a stream has given of it when a line ends is too little to be of use.
    expect(pieces.replace(/^\[(?:.\s){0,2}\[RED/, '[[RED')).toBe('[[REDACTED]]');
  });

  test.each([64, 76])('is redacted in the base64 of a text with lines of %i', (width) => {
    for (let before = 0; before < width; before += 1) {
      const redacted = redactor.text(wrapped(base64('x'.repeat(before) + LONG), width));
      const left = Buffer.from(redacted.replace(/\[REDACTED\]|\s/g, ''), 'base64').toString('latin1');
      expect(redacted).toContain('[REDACTED]');
      expect(left).not.toContain(VALUE.slice(4, -4));
    }
  });

  test('is redacted as bytes that are read as Latin-1', () => {
    const umlauts = createRedactor({ values: ['pässwörd-42'] });
    const text = Buffer.from('\u0000\u0001pässwörd-42\u0000').toString('latin1');
    expect(umlauts.text(text)).toBe('\u0000\u0001[REDACTED]\u0000');
  });

  test('of few characters is looked for in one piece', () => {
    const short = createRedactor({ values: ['abcd'] });
    expect(short.text('abcd ab cd')).toBe('[REDACTED] ab cd');
  });

  test('does not hold a line that has ended for one letter', () => {
    const { push } = redactor.stream();
    expect(push('through\n')).toBe('through\n');
    expect(push('hu\n')).toBe('hu\n');
  });

  test('holds nothing for long: what is far apart is not one value', () => {
    const { push, end } = redactor.stream();
    const given = push('hunter2') + push(' '.repeat(1000));
    expect(given).toBe(`hunter2${' '.repeat(1000)}`);
    expect(push('-of-the-tenant/9fKq') + end()).toBe('-of-the-tenant/9fKq');
  });
});
