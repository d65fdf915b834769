/** Splits a typed line into words: quotes keep blanks, and a backslash escapes the next character. */
export function splitLine(line: string): { words: string[] } | { error: string } {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    if (char === '\\' && quote !== "'") {
      at += 1;
      // In double quotes, a backslash is literal unless the next character needs escaping.
      const next = line.charAt(at);
      word = (word ?? '') + (quote === '"' && next !== '"' && next !== '\\' ? `\\${next}` : next);
    } else if (quote !== null) {
      if (char === quote) quote = null;
      else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (quote !== null) return { error: `a ${quote} is not closed` };
  if (word !== null) words.push(word);
  return { words };
}
