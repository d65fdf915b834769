import type { Stats, StatsPoint } from '../../api/stats.js';

export type Grid = {
  times: number[];
  at(points: readonly StatsPoint[], of: (point: StatsPoint) => number | null): (number | null)[];
};

/** Fills in the steps of the time span that the gateway leaves out because no call ended in them. */
export function gridOf({ step_s }: Stats, span_ms: number): Grid {
  const until = Math.ceil(Date.now() / 60_000) * 60;
  const first = Math.floor((until - span_ms / 1000) / step_s) * step_s;
  const times = Array.from({ length: Math.ceil((until - first) / step_s) }, (_, place) => first + place * step_s);
  return {
    times,
    at: (points, of) => {
      const known = new Map(
        points.map((point) => [Math.floor(Date.parse(point.t) / 1000 / step_s) * step_s, of(point)]),
      );
      return times.map((time) => known.get(time) ?? null);
    },
  };
}

/** Sums over all series, step by step. */
export const total = (stats: Stats, grid: Grid, of: (point: StatsPoint) => number): number[] => {
  const sums = grid.times.map(() => 0);
  for (const { points } of stats.series)
    grid.at(points, of).forEach((value, place) => {
      sums[place] = (sums[place] ?? 0) + (value ?? 0);
    });
  return sums;
};

/** The maximum of all series, step by step, because percentiles cannot be added. */
export const worst = (stats: Stats, grid: Grid, of: (point: StatsPoint) => number | null): (number | null)[] => {
  const all = stats.series.map(({ points }) => grid.at(points, of));
  return grid.times.map((_, place) => {
    const values = all.flatMap((values) => values[place] ?? []);
    return values.length === 0 ? null : Math.max(...values);
  });
};
