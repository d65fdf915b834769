const MAX_EXPANDED = 256;

/** `a/{b,c}/d` → `a/b/d`, `a/c/d`. What opens and does not close is literal, and so is what would be too many. */
export function expandBraces(pattern: string): string[] {
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

/** The innermost first: the last `{` before the first `}`. */
function expandFirst(pattern: string): string[] | null {
  const end = pattern.indexOf('}');
  const start = end < 0 ? -1 : pattern.lastIndexOf('{', end);
  if (start < 0) return null;
  return pattern
    .slice(start + 1, end)
    .split(',')
    .map((choice) => `${pattern.slice(0, start)}${choice}${pattern.slice(end + 1)}`);
}
