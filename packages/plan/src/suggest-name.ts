import { distance } from 'fastest-levenshtein';

const MAX_LOOKED_AT = 2000;

/** What somebody who wrote `name` most likely meant; undefined when nothing comes near. */
export function suggestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  let looked = 0;
  for (const each of known) {
    looked += 1;
    if (looked > MAX_LOOKED_AT) break;
    const steps = distance(name.toLowerCase(), each.toLowerCase());
    if (steps < least) [best, least] = [each, steps];
  }
  return best;
}

export const didYouMean = (name: string, known: Iterable<string>): string | undefined => {
  const meant = suggestName(name, known);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
};
