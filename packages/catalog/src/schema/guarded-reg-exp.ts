import { createContext, Script } from 'node:vm';

/** The part of RegExp that validators use. */
export type Matcher = {
  test(text: string): boolean;
  /** Ajv identifies patterns by it. */
  toString(): string;
};

export class PatternTimeout extends Error {
  override readonly name = 'PatternTimeout';
}

const MATCH_MS = 100;
/** V8 counts time, not work: on a busy machine the process may hardly have run meanwhile. */
const MAX_TRIES = 3;
const SHORT = 64;
const FEW_QUANTIFIERS = 3;

/**
 * Patterns come from a tool's schema and texts from its callers, so together they could backtrack forever. Patterns that
 * cannot take long run directly; the others run where V8 can stop them. (RE2 is not an option: schemas use ECMAScript
 * syntax, with lookaround and back references.)
 */
export function guardedRegExp(pattern: string, flags = 'u'): Matcher {
  const compiled = toRegExp(pattern, flags);
  const quick = isQuick(pattern);
  return {
    test: (text) => (quick && text.length <= SHORT ? compiled.test(text) : testInTime(compiled, text)),
    toString: () => compiled.toString(),
  };
}

/** The official suite and many schemas have patterns that are only valid without the flag `u`. */
function toRegExp(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern, flags.replace('u', ''));
  }
}

/** No quantified group, no back reference and few quantifiers: at most polynomial time on a short text. */
const isQuick = (pattern: string): boolean =>
  !/\)[*+{?]/.test(pattern) && !/\\[1-9k]/.test(pattern) && (pattern.match(/[*+{]/g)?.length ?? 0) <= FEW_QUANTIFIERS;

const MATCH = new Script('expression.test(text)');
const place: { expression?: RegExp; text?: string } = {};
const context = createContext(place);

function testInTime(expression: RegExp, text: string): boolean {
  for (let tries = 1; ; tries += 1) {
    const before = process.cpuUsage();
    try {
      Object.assign(place, { expression, text });
      return MATCH.runInContext(context, { timeout: MATCH_MS }) === true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const { user, system } = process.cpuUsage(before);
      if (tries < MAX_TRIES && (user + system) / 1000 < MATCH_MS / 2) continue;
      throw new PatternTimeout(`took more than ${MATCH_MS} ms to match against its pattern`);
    } finally {
      place.text = '';
    }
  }
}

/** The error may come from another realm, where `instanceof Error` is false. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
