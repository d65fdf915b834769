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
    ['what resets a terminal', between('\u001b(B\u001b[m')],
    ['positions that a terminal keeps', between('\u001b7')],
    ['titles', between('\u001b]0;title\u0007')],
    ['links', between('\u001b]8;;https://example.com\u001b\\')],
    ['strings of one character', between('\u009dtitle\u009c')],
    ['accents', between('\u0301')],
    ['tags and variation selectors', between('\u{e0041}\u{e0100}')],
    ['wide blanks and fillers', between('\u2003\u3000\u3164')],
    ['line ends of JSON', between('\\n')],
    ['colours in JSON', between('\\u001b[31m')],
    ['zero-width characters in JSON', between('\\u200b')],
    ['colours in source code', between('\\x1b[31m')],
    ['the line ends of its base64 in JSON', wrapped(base64(VALUE), 8, '\\n')],
    ['the ends of lines that go on', wrapped(VALUE, 7, '\\\n')],
    ['slashes that are escaped', VALUE.replaceAll('/', '\\/')],
    ['codes of JSON', [...VALUE].map((each) => `\\u00${Buffer.from(each).toString('hex')}`).join('')],
    ['octal codes', [...VALUE].map((each) => `\\${each.charCodeAt(0).toString(8).padStart(3, '0')}`).join('')],
    ['references of HTML', [...VALUE].map((each) => `&#${each.charCodeAt(0)};`).join('')],
    ['dashes between its hexadecimal digits', hex.match(/../g)?.join('-') ?? ''],
    ['an array of its decimal bytes', [...Buffer.from(VALUE)].join(', ')],
    ['blanks between its decimal bytes', [...Buffer.from(VALUE)].join('  ')],
    ['the digits of UTF-16', Buffer.from(VALUE, 'utf16le').toString('hex')],
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
  ])('is redacted even if it is split by %s', (_, text) => {
    expect(redactor.text(`[${text}]`)).toBe('[[REDACTED]]');
    const { push, end } = redactor.stream();
    const pieces = [...`[${text}]`].map(push).join('') + end();
    // The characters that a stream emits at the end of a line are too few to be useful.
    expect(pieces.replace(/^\[(?:.\s){0,2}\[RED/, '[[RED')).toBe('[[REDACTED]]');
  });

  test.each([64, 76])('is redacted in the base64 of a text with lines of %i characters', (width) => {
    for (let before = 0; before < width; before += 1) {
      const redacted = redactor.text(wrapped(base64('x'.repeat(before) + LONG), width));
      const left = Buffer.from(redacted.replace(/\[REDACTED\]|\s/g, ''), 'base64').toString('latin1');
      expect(redacted).toContain('[REDACTED]');
      expect(left).not.toContain(VALUE.slice(4, -4));
    }
  });

  test.each([
    '\u001b[',
    '\u001b[3',
    '\u001b]0;',
    '\u001b(',
    '\u001b',
    '\u009b',
    '\u0090',
    '\\',
    '\\n',
    '\\u001b[',
    '\\u00',
    '\u001b[31m\\',
  ])('is redacted after what looks like the beginning of a sequence: %j', (before) => {
    expect(redactor.text(before + VALUE)).toBe(`${before}[REDACTED]`);
    const digits = createRedactor({ values: ['nagios-99;1234'] });
    expect(digits.text(`${before}nagios-99;1234m`)).toBe(`${before}[REDACTED]m`);
    const { push, end } = redactor.stream();
    expect([...(before + VALUE)].map(push).join('') + end()).toBe(`${before}[REDACTED]`);
  });

  test('keeps JSON valid that it is split in', () => {
    const text = JSON.stringify({
      log: `a "${between('\u001b[0m')}" \n`,
      next: base64(VALUE).replaceAll(/.{9}/g, '$&\n'),
    });
    expect(JSON.parse(redactor.text(text))).toEqual({ log: 'a "[REDACTED]" \n', next: '[REDACTED]\n' });
  });

  test('is redacted if its bytes are misread as Latin-1', () => {
    const umlauts = createRedactor({ values: ['pässwörd-42'] });
    const text = Buffer.from('\u0000\u0001pässwörd-42\u0000').toString('latin1');
    expect(umlauts.text(text)).toBe('\u0000\u0001[REDACTED]\u0000');
  });

  test('of few characters is found only in one piece', () => {
    const short = createRedactor({ values: ['abcd'] });
    expect(short.text('abcd ab cd')).toBe('[REDACTED] ab cd');
  });

  test('does not hold back a finished line because of its last letter', () => {
    const { push } = redactor.stream();
    expect(push('through\n')).toBe('through\n');
    expect(push('hu\n')).toBe('hu\n');
  });

  test('does not hold text back for long, because distant parts are not one value', () => {
    const { push, end } = redactor.stream();
    const given = push('hunter2') + push(' '.repeat(1000));
    expect(given).toBe(`hunter2${' '.repeat(1000)}`);
    expect(push('-of-the-tenant/9fKq') + end()).toBe('-of-the-tenant/9fKq');
  });
});
