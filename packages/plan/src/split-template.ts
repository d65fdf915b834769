/** A piece of text or an expression. */
export type TemplatePart = { text: string } | { source: string };
export type SplitTemplate = { ok: true; parts: TemplatePart[] } | { ok: false; message: string };

const OPEN = '${{';
const CLOSE = '}}';

export const hasTemplate = (text: string): boolean => text.includes(OPEN);

/** Splits text at its expressions. `$${{` is a literal `${{`. */
export function splitTemplate(text: string): SplitTemplate {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf(OPEN, at);
    if (open < 0) break;
    if (text[open - 1] === '$') {
      literal += `${text.slice(at, open - 1)}${OPEN}`;
      at = open + OPEN.length;
      continue;
    }
    const close = findClose(text, open + OPEN.length);
    if (close < 0) return { ok: false, message: 'a ${{ has no }}' };
    literal += text.slice(at, open);
    if (literal !== '') parts.push({ text: literal });
    literal = '';
    parts.push({ source: text.slice(open + OPEN.length, close).trim() });
    at = close + CLOSE.length;
  }
  literal += text.slice(at);
  if (literal !== '') parts.push({ text: literal });
  return { ok: true, parts };
}

/** Finds the `}}` that ends an expression, ignoring those in string literals and nested braces. */
function findClose(text: string, from: number): number {
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === '{') depth += 1;
    else if (char === '}' && depth > 0) depth -= 1;
    else if (char === '}' && text[at + 1] === '}') return at;
  }
  return -1;
}
