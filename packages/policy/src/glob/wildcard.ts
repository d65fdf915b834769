import { isWildcard, matchesWildcard } from '@capstan/contracts';

/** Matches any of several patterns: literal patterns by a set lookup, the others by their prefix first. */
export function compileWildcards(patterns: readonly string[]): (text: string) => boolean {
  const literal = new Set(patterns.filter((pattern) => !isWildcard(pattern)));
  const open = patterns.filter(isWildcard).map((pattern) => ({ pattern, prefix: pattern.split(/[*?]/, 1)[0] ?? '' }));
  const [only] = open;
  if (literal.size === 0 && open.length === 1 && only)
    return (text) => text.startsWith(only.prefix) && matchesWildcard(only.pattern, text);
  return (text) =>
    literal.has(text) || open.some(({ pattern, prefix }) => text.startsWith(prefix) && matchesWildcard(pattern, text));
}
