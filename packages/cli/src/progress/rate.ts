const WINDOW_MS = 5_000;

export type Rate = { add(done: number): void /** A second, over the last few seconds. */; perSecond(): number };

/** How fast a count grows now, not on average since the start: an ETA must follow a queue that slows down. */
export const createRate = (now: () => number): Rate => {
  const samples = [{ at: now(), done: 0 }];
  return {
    add(done) {
      const at = now();
      samples.push({ at, done });
      while (samples.length > 2 && (samples[1]?.at ?? at) < at - WINDOW_MS) samples.shift();
    },
    perSecond() {
      const first = samples[0];
      const last = samples.at(-1);
      if (first === undefined || last === undefined || last.at === first.at) return 0;
      return ((last.done - first.done) * 1000) / (last.at - first.at);
    },
  };
};
