import { distance } from 'fastest-levenshtein';

const MOST = 5;
const MAX_TYPED = 200;

/** The known names nearest to what was typed: those that share a word with it, then those a few letters away. */
export function similarTo(typed: string, known: readonly string[]): string[] {
  const wanted = typed.toLowerCase().slice(0, MAX_TYPED);
  const words = wanted.split(/[^a-z0-9]+/).filter((word) => word.length > 2);
  return known
    .map((name) => ({
      name,
      shared: words.filter((word) => name.toLowerCase().includes(word)).length,
      apart: distance(wanted, name.toLowerCase()),
    }))
    .filter(({ name, shared, apart }) => wanted !== '' && (shared > 0 || apart <= Math.max(2, name.length / 5)))
    .sort((one, other) => other.shared - one.shared || one.apart - other.apart)
    .slice(0, MOST)
    .map(({ name }) => name);
}
