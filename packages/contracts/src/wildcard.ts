/**
 * `*` stands for any characters, `?` for one; everything else is literal. Walks the text once and falls back to the last
 * star only, so that no pattern and no text can make it slow; a RegExp made of the pattern could be.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  let next = 0;
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next;
      next += 1;
      resume = at;
    } else if (next < pattern.length && (pattern[next] === '?' || pattern[next] === text[at])) {
      next += 1;
      at += 1;
    } else if (star >= 0) {
      next = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[next] === '*') next += 1;
  return next === pattern.length;
}

export const isWildcard = (pattern: string): boolean => pattern.includes('*') || pattern.includes('?');
