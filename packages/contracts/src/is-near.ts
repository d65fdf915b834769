import { distance } from 'fastest-levenshtein';

/** So many letters of a name may be mistyped; a word of up to two letters is another word with any other letter. */
const mayDiffer = (length: number): number => (length < 3 ? 0 : Math.min(3, Math.max(1, Math.floor(length / 4))));

/** How many mistakes lie between two words: letters that are missing, added or wrong, or two that changed places. */
export function mistypedLetters(one: string, other: string): number {
  const apart = distance(one, other);
  return apart === 2 && sorted(one) === sorted(other) ? 1 : apart;
}

/** Whether who wrote the one may well have meant the other. */
export const isNear = (one: string, other: string): boolean =>
  mistypedLetters(one, other) <= mayDiffer(Math.max(one.length, other.length));

const sorted = (text: string): string => [...text].sort().join('');
