export type Pairs = {
  /** Returns false if the pair was added before. */
  add(one: object, other: object): boolean;
};

/** A set of pairs of objects, compared by identity. */
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
