const BASE_MS = 500;
const MAX_MS = 60_000;

/** Doubles with each try, and half of it is random, so that what failed together does not come back together. */
export const retryBackoff = (tries: number, random: () => number = Math.random): number => {
  const full = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(tries - 1, 20));
  return Math.round(full * (0.5 + random() / 2));
};
