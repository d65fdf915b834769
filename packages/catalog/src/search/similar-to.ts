import { isNear, mistypedLetters } from '@capstan/contracts';

const MOST = 5;
const MAX_TYPED = 200;
const MAX_WORDS = 10;
/** The prefix that all tools of a source share does not help to tell them apart. */
const SOURCES: ReadonlySet<string> = new Set(['cap', 'ext', 'mcp', 'atip', 'openapi', 'core']);

/**
 * Known names similar to what was typed, closest first: names that differ by a letter or by the separators between words, and
 * names that contain every typed word, give or take a few letters (`math.add` for `cap:math:add`). Returns none rather than a wild guess.
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
