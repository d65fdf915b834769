export type SqlShape = {
  /** The first keyword, in upper case. */
  keyword: string;
  /** True if there is more than one statement. */
  several: boolean;
};

const SPACE = /\s/;
const WORD = /[A-Za-z_]/;

/** Describes a statement without parsing it: one pass that skips comments and quoted text. */
export const sqlShape = (sql: string): SqlShape => {
  let keyword = '';
  let ended = false;
  for (let at = 0; at < sql.length; ) {
    const skipped = skipComment(sql, at);
    if (skipped > at || SPACE.test(sql.charAt(at))) {
      at = Math.max(skipped, at + 1);
      continue;
    }
    if (ended) return { keyword, several: true };
    if (sql.charAt(at) === ';') ended = keyword !== '';
    if (keyword === '' && WORD.test(sql.charAt(at))) keyword = wordAt(sql, at);
    // Parentheses and semicolons may come before the first word. Anything else starts a word that is not a known keyword.
    else if (keyword === '' && !'(;'.includes(sql.charAt(at))) keyword = '?';
    at = Math.max(skipQuoted(sql, at), at + 1);
  }
  return { keyword, several: false };
};

const wordAt = (sql: string, from: number): string => {
  let at = from;
  while (at < sql.length && WORD.test(sql.charAt(at))) at += 1;
  return sql.slice(from, at).toUpperCase();
};

/** The end of the comment that begins here; `at` itself if there is none. */
const skipComment = (sql: string, at: number): number => {
  if (sql.startsWith('--', at)) return endAfter(sql, '\n', at + 2);
  if (!sql.startsWith('/*', at)) return at;
  // Postgres allows nested comments. SQLite does not, and a statement with one is refused as several statements, which is safe.
  let depth = 0;
  for (let place = at; place < sql.length; place += 1) {
    if (sql.startsWith('/*', place)) depth += 1;
    else if (sql.startsWith('*/', place)) depth -= 1;
    else continue;
    place += 1;
    if (depth === 0) return place + 1;
  }
  return sql.length;
};

const QUOTES: ReadonlySet<string> = new Set(["'", '"', '`']);

const skipQuoted = (sql: string, at: number): number => {
  const char = sql.charAt(at);
  const dollar = char === '$' ? /^\$(?:[A-Za-z_]\w{0,62})?\$/.exec(sql.slice(at, at + 66))?.[0] : undefined;
  if (dollar !== undefined) return endAfter(sql, dollar, at + dollar.length);
  return QUOTES.has(char) ? endAfter(sql, char, at + 1) : at;
};

const endAfter = (sql: string, ending: string, from: number): number => {
  const found = sql.indexOf(ending, from);
  return found < 0 ? sql.length : found + ending.length;
};
