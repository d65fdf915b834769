/** A set of ASCII characters, as a table: one load per character keeps the matcher at the speed of the text. */
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

/** Where the run of members that starts at `from` ends, at most at `limit`. */
export const runEnd = (members: CharClass, text: string, from: number, limit: number): number => {
  const end = Math.min(limit, text.length);
  let at = from;
  while (at < end && members[text.charCodeAt(at)] === 1) at += 1;
  return at;
};

export const isMember = (members: CharClass, char: string): boolean => members[char.charCodeAt(0)] === 1;
