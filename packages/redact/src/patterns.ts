import { RE2JS } from 're2js';
import { REPLACEMENT, type Scanner } from './scanner.js';

/** Patterns match within a line. A longer line is searched in pieces of this size. */
const MAX_LINE = 16_384;
/** The end of a piece is searched again with the next one, so that a match of up to this length is always found. */
const OVERLAP = 4096;

/** Patterns that an operator adds, in RE2 syntax, which matches in linear time. */
export type Patterns = { stream(): Scanner };

/** Throws an error that names the pattern if one is invalid. */
export const compilePatterns = (patterns: readonly string[]): Patterns => {
  const compiled = patterns.map(compile);
  return { stream: () => createLineStage((text) => joined(compiled.flatMap((pattern) => matchesOf(pattern, text)))) };
};

const compile = (pattern: string): RE2JS => {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(
      `the redaction pattern ${pattern} is not valid RE2 syntax: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (compiled.matcher('').find()) throw new Error(`the redaction pattern ${pattern} matches the empty text`);
  return compiled;
};

type Span = { from: number; to: number };

const matchesOf = (pattern: RE2JS, text: string): Span[] => {
  const spans: Span[] = [];
  const matcher = pattern.matcher(text);
  while (matcher.find()) if (matcher.end() > matcher.start()) spans.push({ from: matcher.start(), to: matcher.end() });
  return spans;
};

/** Sorts matches and merges those that overlap. */
const joined = (spans: Span[]): Span[] => {
  const out: Span[] = [];
  for (const span of spans.sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && span.from < last.to) last.to = Math.max(last.to, span.to);
    else out.push(span);
  }
  return out;
};

const createLineStage = (find: (text: string) => Span[]): Scanner => {
  let held = '';
  const give = (spans: Span[], end: number): string => {
    const out = redacted(held.slice(0, end), spans);
    held = held.slice(end);
    return out;
  };
  const takeLine = (length: number): string => give(find(held.slice(0, length)), length);
  const takePiece = (): string => {
    const spans = find(held.slice(0, MAX_LINE));
    const end = endOf(spans);
    return give(
      spans.filter(({ from }) => from < end),
      end,
    );
  };
  return {
    push: (chunk) => {
      held += chunk;
      let out = '';
      for (;;) {
        const newline = held.slice(0, MAX_LINE).indexOf('\n');
        if (newline >= 0) out += takeLine(newline + 1);
        else if (held.length >= MAX_LINE) out += takePiece();
        else return out;
      }
    },
    end: () => takeLine(held.length),
  };
};

/** The end of the part of a piece that is decided. It never splits a match, and always makes progress. */
const endOf = (spans: readonly Span[]): number => {
  const end = MAX_LINE - OVERLAP;
  const across = spans.find(({ from, to }) => from < end && to > end);
  if (!across) return end;
  // The match may continue beyond the piece, so it is searched again with the next one.
  return across.to === MAX_LINE && across.from >= OVERLAP ? across.from : across.to;
};

const redacted = (text: string, spans: readonly Span[]): string => {
  let out = '';
  let done = 0;
  for (const { from, to } of spans) {
    out += text.slice(done, from) + REPLACEMENT;
    done = to;
  }
  return out + text.slice(done);
};
