import { EvaluationError } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

const patterns = new Map<string, RE2JS>();
const MAX_KEPT = 1000;
const MAX_PATTERN = 1000;

/** CEL specifies RE2 for `matches`, which never backtracks. The library uses JavaScript's RegExp, which does. */
export function matchesPattern(text: unknown, pattern: unknown): boolean {
  if (typeof text !== 'string' || typeof pattern !== 'string')
    throw new EvaluationError({ code: 'no_matching_overload', message: 'matches() takes a string and a pattern' });
  return compile(pattern).matcher(text).find();
}

function compile(pattern: string): RE2JS {
  const known = patterns.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN)
    throw new EvaluationError({ code: 'invalid_regular_expression', message: 'the pattern is too long' });
  if (patterns.size >= MAX_KEPT) patterns.clear();
  try {
    const compiled = RE2JS.compile(pattern);
    patterns.set(pattern, compiled);
    return compiled;
  } catch (cause) {
    throw new EvaluationError({
      code: 'invalid_regular_expression',
      message: `not a valid regular expression: ${pattern}`,
      cause,
    });
  }
}
