import { setImmediate } from 'node:timers/promises';
import { RE2JS, RE2JSException } from 're2js';

/** Matching takes time by the length of the line and the size of the pattern; both are bounded, so that no step takes long. */
const MAX_PROGRAM = 2000;
const MAX_LINE = 16_384;
const MAX_SHOWN = 500;
const MAX_MATCHES = 1000;
/** Others get their turn this often. */
const SLICE_MS = 10;

export type GrepMatch = { path: string; line_number: number; line: string };
export type Grepped = { matches: GrepMatch[]; truncated: boolean; searched: string[] };

export function compilePattern(pattern: string): RE2JS | string {
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > MAX_PROGRAM ? 'the pattern is too large' : compiled;
  } catch (error) {
    return error instanceof RE2JSException ? `not a regular expression: ${error.message}` : 'not a regular expression';
  }
}

/** Searches line by line, in linear time. A longer line is searched in pieces. */
export async function grep(
  texts: AsyncIterable<{ path: string; content: Uint8Array }>,
  pattern: RE2JS,
  { wanted, signal }: { wanted(path: string): boolean; signal: AbortSignal },
): Promise<Grepped> {
  const found: Grepped = { matches: [], truncated: false, searched: [] };
  let turn = performance.now();
  for await (const { path, content } of texts) {
    signal.throwIfAborted();
    if (!wanted(path)) continue;
    found.searched.push(path);
    let line_number = 0;
    for (const line of linesOf(Buffer.from(content).toString('utf8'))) {
      line_number += 1;
      if (performance.now() - turn > SLICE_MS) {
        await setImmediate();
        signal.throwIfAborted();
        turn = performance.now();
      }
      if (!hasMatch(pattern, line)) continue;
      if (found.matches.length >= MAX_MATCHES) return { ...found, truncated: true };
      found.matches.push({ path, line_number, line: line.slice(0, MAX_SHOWN).toWellFormed() });
    }
  }
  return found;
}

function hasMatch(pattern: RE2JS, line: string): boolean {
  for (let from = 0; from === 0 || from < line.length; from += MAX_LINE)
    if (pattern.matcher(line.slice(from, from + MAX_LINE)).find()) return true;
  return false;
}

/** One at a time: a file of nothing but line ends must not become millions of strings at once. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? text.length : end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (end === -1) return;
    from = end + 1;
  }
}
