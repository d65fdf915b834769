import { setImmediate } from 'node:timers/promises';
import type { Redactor } from '@capstan/redact';
import { RE2JS, RE2JSException } from 're2js';
import type { Room } from './room.js';

/** The time for a match depends on the length of the line and the size of the pattern. Both are bounded, so that no step takes long. */
const MAX_PROGRAM = 2000;
const MAX_LINE = 16_384;
/** Adjacent pieces of a long line overlap by this much, so that a match up to this length lies within one of them. */
const OVERLAP = 4096;
const MAX_SHOWN = 500;
export const MAX_MATCHES = 1000;
/** How often to yield to other work. */
const SLICE_MS = 10;

export type GrepMatch = { path: string; line_number: number; line: string };
export type GrepOptions = { wanted(path: string): boolean; signal: AbortSignal; redact: Redactor; room: Room };
export type Grepped = { matches: GrepMatch[]; truncated: boolean; searched: string[] };

export function compilePattern(pattern: string): RE2JS | string {
  try {
    const compiled = RE2JS.compile(pattern);
    return compiled.programSize() > MAX_PROGRAM ? 'the pattern is too large' : compiled;
  } catch (error) {
    return error instanceof RE2JSException ? `not a regular expression: ${error.message}` : 'not a regular expression';
  }
}

/** Searches line by line, in linear time. A long line is searched in pieces. */
export async function grep(
  texts: AsyncIterable<{ path: string; content: Uint8Array }>,
  pattern: RE2JS,
  { wanted, signal, redact, room }: GrepOptions,
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
      const match = { path, line_number, line: shownOf(line, redact) };
      if (found.matches.length >= MAX_MATCHES || !room.take(match)) return { ...found, truncated: true };
      found.matches.push(match);
    }
  }
  return found;
}

function hasMatch(pattern: RE2JS, line: string): boolean {
  for (let from = 0; ; from += MAX_LINE - OVERLAP) {
    if (pattern.matcher(line.slice(from, from + MAX_LINE)).find()) return true;
    if (from + MAX_LINE >= line.length) return false;
  }
}

/** The beginning of a line. Redacted before it is truncated, because half a secret would not be recognized, and only as far as it is shown. */
function shownOf(line: string, redact: Redactor): string {
  const { push, end } = redact.stream();
  let shown = '';
  for (let from = 0; from < line.length && shown.length < MAX_SHOWN; from += MAX_LINE)
    shown += push(line.slice(from, from + MAX_LINE));
  if (shown.length < MAX_SHOWN) shown += end();
  return shown.slice(0, MAX_SHOWN).toWellFormed();
}

/** Yields lines one at a time: a file that consists of line breaks must not become millions of strings at once. */
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
