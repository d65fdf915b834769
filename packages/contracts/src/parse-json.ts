import type { Json } from './json.js';

/** Deeper than any schema needs, and far below the depth at which recursive code overflows the stack. */
export const MAX_JSON_DEPTH = 128;

/** Results of tools may be deeper, because they are only stored and shown. Redaction replaces anything deeper. */
export const MAX_RESULT_DEPTH = 1000;

export type JsonPlace = { line: number; column: number };

/** Text that is not JSON or is nested too deep, with the position if it is known. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly place: JsonPlace | undefined;

  constructor(message: string, place?: JsonPlace) {
    super(place ? `${message} (line ${place.line}, column ${place.column})` : message);
    this.place = place;
  }
}

/**
 * Parses untrusted JSON. The depth is checked before anything is built, because a few kilobytes of brackets would overflow the stack
 * of any recursive function.
 */
export function parseJson(text: string, max_depth: number = MAX_JSON_DEPTH): Json {
  const deep = tooDeepAt(text, max_depth);
  if (deep >= 0) throw new JsonError(`nested deeper than ${max_depth} levels`, placeOf(text, deep));
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'not JSON';
    const at = /at position (\d+)/.exec(message)?.[1];
    throw at === undefined
      ? new JsonError(message)
      : new JsonError(message.replace(/ \(line \d+ column \d+\)$/, ''), placeOf(text, Number(at)));
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position at which the text exceeds the depth, or -1. Brackets in strings do not count. */
export function tooDeepAt(text: string, max_depth: number): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at + 1);
      // `[` and `{`, `]` and `}` differ in one bit.
    } else if ((code | 0x20) === 0x7b) {
      depth += 1;
      if (depth > max_depth) return at;
    } else if ((code | 0x20) === 0x7d) depth -= 1;
  }
  return -1;
}

/** The position of the quote that closes a string, or the end of the text. */
function endOfString(text: string, from: number): number {
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH && quote - 1 - escapes >= from) escapes += 1;
    if (escapes % 2 === 0) return quote;
    at = quote + 1;
  }
}

function placeOf(text: string, at: number): JsonPlace {
  const before = text.slice(0, at).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
