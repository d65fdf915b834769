import { distance } from 'fastest-levenshtein';

/** How many letters of a name may be mistyped. In a word of one or two letters, any change makes a different word. */
const mayDiffer = (length: number): number => (length < 3 ? 0 : Math.min(3, Math.max(1, Math.floor(length / 4))));

/** How many mistakes lie between two words: letters that are missing, added or wrong, or two that changed places. */
export function mistypedLetters(one: string, other: string): number {
  const apart = distance(one, other);
  return apart === 2 && sorted(one) === sorted(other) ? 1 : apart;
}

/** True if one word may be a typo of the other. */
export const isNear = (one: string, other: string): boolean =>
  mistypedLetters(one, other) <= mayDiffer(Math.max(one.length, other.length));

const sorted = (text: string): string => [...text].sort().join('');
