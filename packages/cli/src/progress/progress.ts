import type { Output } from '../output.js';
import { createLiveLine } from './live-line.js';
import { createRate } from './rate.js';
import { renderBar, renderLine } from './render-progress.js';

export type Progress = {
  update(done: number, fraction: number | null): Promise<void>;
  /** Takes the bar away, so that what was achieved can be said. */
  end(): Promise<void>;
};

const REDRAW_MS = 100;
const LINE_MS = 1_000;

/** How far something is: a bar on a terminal, a plain line about every second in a pipe. */
export const createProgress = (
  output: Output,
  label: string,
  now: () => number = () => performance.now(),
): Progress => {
  const rate = createRate(now);
  const live = createLiveLine(output);
  // A pipe that is done within a second needs no line at all; a terminal gets its bar at once.
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
