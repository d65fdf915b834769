import { isNear, mistypedLetters } from '@capstan/contracts';

const MOST = 5;
const MAX_TYPED = 200;
const MAX_WORDS = 10;
/** What all tools of a source begin with says nothing of which one is meant. */
const SOURCES: ReadonlySet<string> = new Set(['cap', 'ext', 'mcp', 'atip', 'openapi', 'core']);

/**
 * The known names near what was typed, the nearest first: those that are the same but for a letter or what is between the words, and
 * those that have every word of it, but for a few letters (`math.add` for `cap:math:add`). None rather than a wild guess.
 */
export function similarTo(typed: string, known: readonly string[]): string[] {
  const wanted = typed.toLowerCase().slice(0, MAX_TYPED);
  const words = wordsOf(wanted);
  const telling = words.filter((word) => !SOURCES.has(word));
  const hasAll = (others: string[]) =>
    telling.length > 0 &&
    telling.length <= MAX_WORDS &&
    telling.every((word) => others.some((other) => isNear(word, other)));
  return known
    .map((name) => ({ name, others: wordsOf(name.toLowerCase()) }))
    .filter(
      ({ others }) => words.length > 0 && (hasAll(others) || mistypedLetters(words.join(''), others.join('')) < 2),
    )
    .map(({ name }) => ({ name, apart: mistypedLetters(wanted, name.toLowerCase()) }))
    .sort((one, other) => one.apart - other.apart)
    .slice(0, MOST)
    .map(({ name }) => name);
}

const wordsOf = (text: string): string[] => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
