import { matchesWildcard } from '@capstan/contracts';
import { expandBraces } from './expand-braces.js';

/** A path taken apart: no empty parts, no `.`. */
export type Path = { absolute: boolean; parts: string[] };

export function splitPath(path: string): Path {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return { absolute: path.startsWith('/'), parts };
}

export type PathGlob = { source: string; matches(path: Path): boolean };

/**
 * `*` and `?` stay within a part, `**` takes any number of parts, `{a,b}` is either. A relative pattern is for relative
 * paths and an absolute one for absolute paths; one that starts with `**` is, in a deny list, for both.
 */
export function compilePathGlob(source: string, list: 'allow' | 'deny'): PathGlob {
  const patterns = expandBraces(source).map(splitPath);
  const anywhere = list === 'deny' && source.startsWith('**');
  return {
    source,
    matches: (path) =>
      patterns.some(
        ({ absolute, parts }) => (anywhere || absolute === path.absolute) && matchesParts(parts, path.parts),
      ),
  };
}

/** As matchesWildcard, with parts for characters and `**` for the star. */
function matchesParts(pattern: readonly string[], parts: readonly string[]): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let next = 0;
  while (at < parts.length) {
    const wanted = pattern[next];
    if (wanted === '**') {
      star = next;
      next += 1;
      resume = at;
    } else if (wanted !== undefined && matchesWildcard(wanted, parts[at] ?? '')) {
      next += 1;
      at += 1;
    } else if (star >= 0) {
      next = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[next] === '**') next += 1;
  return next === pattern.length;
}
