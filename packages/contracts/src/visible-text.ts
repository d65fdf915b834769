/**
 * Characters that a terminal or page interprets instead of showing: C0 and C1 controls (ESC, OSC, CSI), characters that change the
 * text direction, and zero-width characters. Variation selectors, which make ❤ an emoji or text, are allowed, because they hide nothing.
 */
const UNSEEN = /(?!\t|\n|\ufe0e|\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** Most text has none, and this test is several times faster than a replacement without matches. */
const PLAIN = /^[\t\n -~]*$/;

/** Makes untrusted text safe to read by escaping invisible characters: `\x1b`, `\u202e`. */
export const visibleText = (text: string): string =>
  PLAIN.test(text) ? text : text.replaceAll('\r\n', '\n').replace(UNSEEN, escapeOf);

/** Like `visibleText`, on one line. */
export const visibleLine = (text: string): string => visibleText(text.replace(/\r?\n|[\t\r\u2028\u2029]/g, ' '));

/** JSON that is safe to read and parses to the same value. */
export const visibleJson = (value: unknown, indent?: number): string =>
  // JSON.stringify already escapes C0 in strings. The remaining line ends are its own indentation.
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
