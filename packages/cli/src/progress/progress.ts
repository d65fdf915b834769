import type { Output } from '../output.js';
import { createLiveLine } from './live-line.js';
import { renderBar, renderLine } from './render-progress.js';

export type Progress = {
  update(done: number, fraction: number | null): Promise<void>;
  /** Clears the bar, so that other output can follow. */
  end(): Promise<void>;
};

const REDRAW_MS = 100;
const LINE_MS = 1_000;

/** Progress as a bar on a terminal, or as a line about every second in a pipe. */
export const createProgress = (
  output: Output,
  label: string,
  now: () => number = () => performance.now(),
): Progress => {
  const rate = createRate(now);
  const live = createLiveLine(output);
  // In a pipe nothing is printed within the first second. A terminal gets its bar immediately.
  let shownAt = output.live ? -Infinity : now();
  return {
    async update(done, fraction) {
      rate.add(done);
      if (now() - shownAt < (output.live ? REDRAW_MS : LINE_MS)) return;
      shownAt = now();
      const perSecond = rate.perSecond();
      const left = fraction === null || fraction <= 0 || fraction >= 1 ? null : (done / fraction) * (1 - fraction);
      const eta_ms = left === null || perSecond <= 0 ? null : (left / perSecond) * 1000;
      const state = { label, done, fraction, rate: perSecond, eta_ms };
      if (output.live) await live.show(renderBar(state, output.columns, output.colors));
      else await output.line(renderLine(state));
    },
    end: () => live.clear(),
  };
};

const WINDOW_MS = 5_000;

type Rate = { add(done: number): void /** Over the last few seconds. */; perSecond(): number };

/** The current rate, not the average since the start, so that an ETA follows a queue that slows down. */
const createRate = (now: () => number): Rate => {
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
