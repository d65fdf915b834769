import { RE2JS } from 're2js';
import { REPLACEMENT, type Scanner } from './scanner.js';

/** Patterns match within a line; a longer line is looked at in pieces of this size. */
const MAX_LINE = 16_384;

/** Patterns that an operator adds, in RE2 syntax: matched in linear time whatever they are. */
export type Patterns = { stream(): Scanner };

/** Throws for one that cannot be read, and says which. */
export const compilePatterns = (patterns: readonly string[]): Patterns => {
  const compiled = patterns.map(compile);
  const redact = (line: string) =>
    compiled.reduce((text, pattern) => pattern.matcher(text).replaceAll(REPLACEMENT), line);
  return { stream: () => createLineStage(redact) };
};

const compile = (pattern: string): RE2JS => {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(
      `the redaction pattern ${pattern} is not RE2 syntax: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (compiled.matcher('').find()) throw new Error(`the redaction pattern ${pattern} matches the empty text`);
  return compiled;
};

const createLineStage = (redact: (line: string) => string): Scanner => {
  let held = '';
  const take = (length: number): string => {
    const piece = held.slice(0, length);
    held = held.slice(length);
    return redact(piece);
  };
  return {
    push: (chunk) => {
      held += chunk;
      let out = '';
      for (;;) {
        const newline = held.slice(0, MAX_LINE).indexOf('\n');
        if (newline >= 0) out += take(newline + 1);
        else if (held.length >= MAX_LINE) out += take(MAX_LINE);
        else return out;
      }
    },
    end: () => take(held.length),
  };
};
