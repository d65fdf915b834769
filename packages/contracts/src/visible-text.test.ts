import { describe, expect, test } from 'vitest';
import { visibleJson, visibleLine, visibleText } from './visible-text.js';

/** Sequences that must never reach a terminal or page from a tool. */
const ATTACKS: [name: string, text: string, shown: string][] = [
  ['a colour', '\u001b[31mred', '\\x1b[31mred'],
  ['a title of the window', '\u001b]0;pwned\u0007', '\\x1b]0;pwned\\x07'],
  [
    'a hyperlink',
    '\u001b]8;;http://evil\u001b\\bank\u001b]8;;\u001b\\',
    '\\x1b]8;;http://evil\\x1b\\bank\\x1b]8;;\\x1b\\',
  ],
  ['a CSI of one character', '\u009b2J', '\\x9b2J'],
  ['an OSC of one character', '\u009d0;x\u009c', '\\x9d0;x\\x9c'],
  ['a line that writes over itself', 'denied\rallowed', 'denied\\rallowed'],
  ['a character taken back', 'no\b\bok', 'no\\b\\bok'],
  ['a bell and a delete', '\u0007\u007f', '\\x07\\x7f'],
  ['a NUL', 'a\u0000b', 'a\\x00b'],
  ['text turned around', '\u202etxt.exe\u202c', '\\u202etxt.exe\\u202c'],
  ['isolated text', '\u2066a\u2069', '\\u2066a\\u2069'],
  ['marks of a direction', 'a\u200eb\u200fc\u061cd', 'a\\u200eb\\u200fc\\u061cd'],
  ['characters without a width', 'ad\u200bmin\u2060\ufeff', 'ad\\u200bmin\\u2060\\ufeff'],
  ['a soft hyphen', 'ad\u00admin', 'ad\\u00admin'.replace('u00', 'x')],
  ['tags that nobody sees', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['bytes in variation selectors', 'a\u{e0101}\ufe03', 'a\\u{e0101}\\ufe03'],
  ['fillers', 'a\u3164b\u115f', 'a\\u3164b\\u115f'],
  ['other ends of a line', 'a\u2028b\u2029c\u0085', 'a\\u2028b\\u2029c\\x85'],
  ['annotations', '\ufff9a\ufffb', '\\ufff9a\\ufffb'],
];

describe('text for people', () => {
  test.each(ATTACKS)('shows %s', (_, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  test.each(['plain\n\ttext', 'naïve 🛠 日本 ❤️ ﷼', 'العربية עברית', 'é'])('does not change %j', (text) => {
    expect(visibleText(text)).toBe(text);
  });

  test('has its line ends normalized to LF', () => {
    expect(visibleText('a\r\nb')).toBe('a\nb');
  });

  test('is joined to one line by visibleLine', () => {
    expect(visibleLine('a\r\nb\tc\u2028d\u001b[2Ke')).toBe('a b c d\\x1b[2Ke');
  });
});

describe('JSON for people', () => {
  test.each(ATTACKS)('has %s as an escape and reads as the same value', (_, text) => {
    const value = { [text]: [text] };
    for (const indent of [undefined, 2]) {
      const json = visibleJson(value, indent);
      expect(JSON.parse(json)).toEqual(value);
      expect(visibleText(json)).toBe(json);
    }
  });
});
