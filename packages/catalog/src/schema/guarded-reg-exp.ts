import { createContext, Script } from 'node:vm';

/** What a validator needs of a regular expression. */
export type Matcher = {
  test(text: string): boolean;
  /** Ajv tells patterns apart by it. */
  toString(): string;
};

export class PatternTimeout extends Error {
  override readonly name = 'PatternTimeout';
}

const MATCH_MS = 100;
const SHORT = 64;
const FEW_QUANTIFIERS = 3;

/**
 * Patterns come with a tool's schema and texts from its callers, so together they may be made to backtrack for ever. What
 * cannot take long runs as it is; the rest runs where V8 stops it in time. (RE2 is no way out: schemas are written in
 * ECMAScript's syntax, with lookaround and back references.)
 */
export function guardedRegExp(pattern: string, flags = 'u'): Matcher {
  const compiled = toRegExp(pattern, flags);
  const quick = isQuick(pattern);
  return {
    test: (text) => (quick && text.length <= SHORT ? compiled.test(text) : testInTime(compiled, text)),
    toString: () => compiled.toString(),
  };
}

/** The suite, and many a schema, write patterns that are only right without the flag `u`. */
function toRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern, flags.replace('u', ''));
  }
}

/** No quantified group, no back reference, and few quantifiers: at most a small polynomial of a short text. */
const isQuick = (pattern: string): boolean =>
  !/\)[*+{?]/.test(pattern) && !/\\[1-9k]/.test(pattern) && (pattern.match(/[*+{]/g)?.length ?? 0) <= FEW_QUANTIFIERS;

const MATCH = new Script('expression.test(text)');
const place: { expression?: RegExp; text?: string } = {};
const context = createContext(place);

function testInTime(expression: RegExp, text: string): boolean {
  Object.assign(place, { expression, text });
  try {
    return MATCH.runInContext(context, { timeout: MATCH_MS }) === true;
  } catch (error) {
    if (isTimeout(error)) throw new PatternTimeout(`took more than ${MATCH_MS} ms to match against its pattern`);
    throw error;
  } finally {
    place.text = '';
  }
}

/** It may be an error of another realm, which is no Error here. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
