export type Pairs = {
  /** False when the pair was there already. */
  add(one: object, other: object): boolean;
};

/** Pairs of objects that were met, told apart by what they are and not by what they hold. */
export const createPairs = (): Pairs => {
  const met = new Map<object, Set<object>>();
  return {
    add: (one, other) => {
      const others = met.get(one) ?? new Set();
      if (others.has(other)) return false;
      met.set(one, others.add(other));
      return true;
    },
  };
};
