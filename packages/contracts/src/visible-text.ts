/**
 * What a terminal or a page acts on instead of showing it: C0 and C1 controls (ESC, OSC, CSI), characters that turn the
 * direction of text, and those without a width. Not the selectors that make ❤ an emoji or a text: they hide nothing.
 */
const UNSEEN = /(?!\t|\n|\ufe0e|\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** Most text has none; this test is several times quicker than a replacement that replaces nothing. */
const PLAIN = /^[\t\n -~]*$/;

/** Text from elsewhere for people to read, with every character in it that would not show itself: `\x1b`, `\u202e`. */
export const visibleText = (text: string): string =>
  PLAIN.test(text) ? text : text.replaceAll('\r\n', '\n').replace(UNSEEN, escapeOf);

/** The same on one line. */
export const visibleLine = (text: string): string => visibleText(text.replace(/\r?\n|[\t\r\u2028\u2029]/g, ' '));

/** JSON that is safe to look at: it reads as the same value. */
export const visibleJson = (value: unknown, indent?: number): string =>
  // JSON.stringify has escaped C0 already; its own line ends are no part of a string.
  (JSON.stringify(value, null, indent) ?? 'null').replace(UNSEEN, (char) =>
    Array.from({ length: char.length }, (_, at) => `\\u${hex(char.charCodeAt(at), 4)}`).join(''),
  );

const NAMED: Readonly<Record<string, string>> = { '\r': '\\r', '\b': '\\b', '\f': '\\f', '\v': '\\v' };

const escapeOf = (char: string): string => {
  const code = char.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${hex(code, 5)}}`;
  return NAMED[char] ?? (code > 0xff ? `\\u${hex(code, 4)}` : `\\x${hex(code, 2)}`);
};

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');
