const BASE_MS = 500;
const MAX_MS = 60_000;

/** Doubles with each try. Half of it is random, so that calls that failed together do not return together. */
export const retryBackoff = (tries: number, random: () => number = Math.random, base_ms = BASE_MS): number => {
  const full = Math.min(Math.max(MAX_MS, base_ms), base_ms * 2 ** Math.min(tries - 1, 20));
  return Math.round(full * (0.5 + random() / 2));
};
