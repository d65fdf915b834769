import { matchesStars, matchesWildcard } from '@capstan/contracts';

/** A parsed path, without empty parts and `.`. */
export type Path = { absolute: boolean; parts: string[] };

export function splitPath(path: string): Path {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return { absolute: path.startsWith('/'), parts };
}

export type PathGlob = { source: string; matches(path: Path): boolean };

/**
 * `*` and `?` match within a part, `**` matches any number of parts, and `{a,b}` matches either. A relative pattern matches relative paths, an
 * absolute one absolute paths. In a deny list, a pattern that starts with `**` matches both.
 */
export function compilePathGlob(source: string, list: 'allow' | 'deny'): PathGlob {
  const patterns = expandBraces(source).map(splitPath);
  const anywhere = list === 'deny' && source.startsWith('**');
  return {
    source,
    matches: (path) =>
      patterns.some(
        ({ absolute, parts }) =>
          (anywhere || absolute === path.absolute) && matchesStars(parts, path.parts, '**', matchesWildcard),
      ),
  };
}

const MAX_EXPANDED = 256;

/** `a/{b,c}/d` → `a/b/d`, `a/c/d`. An unclosed brace is literal, and so are braces that would expand to too many patterns. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const choices = expandFirst(one);
    if (choices) open.push(...choices);
    else done.push(one);
    if (done.length + open.length > MAX_EXPANDED) return [pattern];
  }
  return done;
}

/** Expands the innermost braces first: the last `{` before the first `}`. */
function expandFirst(pattern: string): string[] | null {
  const end = pattern.indexOf('}');
  const start = end < 0 ? -1 : pattern.lastIndexOf('{', end);
  if (start < 0) return null;
  return pattern
    .slice(start + 1, end)
    .split(',')
    .map((choice) => `${pattern.slice(0, start)}${choice}${pattern.slice(end + 1)}`);
}
