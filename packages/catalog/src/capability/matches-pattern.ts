/** `*` stands for any characters, `?` for one. Linear in both: the last `*` is all that is ever taken back. */
export function matchesPattern(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let from = 0; from < text.length; ) {
    if (pattern[at] === '*') {
      star = at++;
      resume = from;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) {
      at++;
      from++;
    } else if (star >= 0) {
      at = star + 1;
      from = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
