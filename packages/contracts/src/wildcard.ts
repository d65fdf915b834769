/**
 * `*` matches any characters and `?` exactly one; everything else is literal. Unlike a RegExp built from the pattern, no pattern and
 * text can make it slow.
 */
export const matchesWildcard = (pattern: string, text: string): boolean =>
  matchesStars(pattern, text, '*', isCharacter);

const isCharacter = (wanted: string, found: string): boolean => wanted === '?' || wanted === found;

/**
 * Matches a sequence against a pattern in which `star` stands for any number of items, including none. Backtracks only to the last
 * star, so its time is at most the product of both lengths.
 */
export function matchesStars(
  pattern: ArrayLike<string>,
  items: ArrayLike<string>,
  star: string,
  matches: (wanted: string, found: string) => boolean,
): boolean {
  let at = 0;
  let last_star = -1;
  let resume = 0;
  let next = 0;
  while (at < items.length) {
    const wanted = pattern[next];
    if (wanted === star) {
      last_star = next;
      next += 1;
      resume = at;
    } else if (wanted !== undefined && matches(wanted, items[at] ?? '')) {
      next += 1;
      at += 1;
    } else if (last_star >= 0) {
      next = last_star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[next] === star) next += 1;
  return next === pattern.length;
}

export const isWildcard = (pattern: string): boolean => pattern.includes('*') || pattern.includes('?');
