import { isNear, mistypedLetters } from '@capstan/contracts';

const MAX_LOOKED_AT = 2000;

/** Returns the known name closest to `name`, or undefined if none is close. */
function suggestName(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  let looked = 0;
  for (const each of known) {
    looked += 1;
    if (looked > MAX_LOOKED_AT) break;
    const [one, other] = [name.toLowerCase(), each.toLowerCase()];
    if (!isNear(one, other)) continue;
    const apart = mistypedLetters(one, other);
    if (apart < least) [best, least] = [each, apart];
  }
  return best;
}

export const didYouMean = (name: string, known: Iterable<string>): string | undefined => {
  const meant = suggestName(name, known);
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
};
