/** A set of ASCII characters as a table, so that a test costs one lookup. */
export type CharClass = Uint8Array;

/** `charClass('A-Z', '_')`: ranges as in a regular expression, or characters on their own. */
export const charClass = (...members: string[]): CharClass => {
  const table = new Uint8Array(128);
  for (const member of members) {
    const range = /^(.)-(.)$/s.exec(member);
    const [from, to] = range ? [range[1] ?? '', range[2] ?? ''] : ['', ''];
    if (range) table.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1);
    else for (const char of member) table[char.charCodeAt(0)] = 1;
  }
  return table;
};

export const isMember = (members: CharClass, code: number): boolean => members[code] === 1;

export const DIGIT = charClass('0-9');
export const HEX = charClass('0-9', 'a-f', 'A-F');
export const LOWER_HEX = charClass('0-9', 'a-f');
export const ALPHA = charClass('A-Z', 'a-z');
export const LOWER_ALNUM = charClass('a-z', '0-9');
export const UPPER_ALNUM = charClass('A-Z', '0-9');
export const ALNUM = charClass('A-Z', 'a-z', '0-9');
export const WORD = charClass('A-Z', 'a-z', '0-9', '_');
export const ALNUM_DASH = charClass('A-Z', 'a-z', '0-9', '-');
export const BASE64 = charClass('A-Z', 'a-z', '0-9', '+/=');
export const BASE64URL = charClass('A-Z', 'a-z', '0-9', '_', '-');
/** base64url with padding and dots, which many vendors use for tokens. */
export const TOKEN = charClass('A-Z', 'a-z', '0-9', '_', '-', '=.');
