/** How much may be under way at once, shared by all who ask for some of it. */
export type Room = {
  /** As much as there is, up to `wanted` and at least 1; whoever asks first is served first. */
  take(wanted: number): Promise<number>;
  give(count: number): void;
};

export function openRoom(size: number): Room {
  let free = size;
  const asking: { wanted: number; resolve(taken: number): void }[] = [];
  let serving = false;
  const serve = () => {
    serving = false;
    while (free > 0) {
      const next = asking.shift();
      if (!next) return;
      const taken = Math.min(free, next.wanted);
      free -= taken;
      next.resolve(taken);
    }
  };
  return {
    take: (wanted) =>
      new Promise((resolve) => {
        asking.push({ wanted, resolve });
        serve();
      }),
    give: (count) => {
      free += count;
      if (serving || asking.length === 0) return;
      // What ends in one turn of the event loop frees its room together.
      serving = true;
      setImmediate(serve);
    },
  };
}
