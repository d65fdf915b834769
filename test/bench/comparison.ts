import { perSecond, type Sample } from './sample.js';
import { median } from './statistics.js';
import type { Shape, SubjectName } from './subject.js';

export interface Measurement {
  readonly round: number;
  readonly subject: SubjectName;
  readonly shape: Shape | 'behind_waiting';
  readonly sample: Sample;
}

export type Figure = 'per_second' | 'p50_ms' | 'p99_ms' | 'finished_per_second';

/** A line of the report: a figure, what it is compared with, and what the ratio should be. */
export interface Line {
  readonly label: string;
  readonly shape: Measurement['shape'];
  readonly figure: Figure;
  /** Raw BullMQ under the same shape, Capstan's own bulk submissions, or nothing. */
  readonly compared_with: 'raw' | 'own_bulk' | 'nothing';
  readonly target?: { readonly bound: 'at_least' | 'at_most'; readonly redis: number; readonly postgres: number };
}

export interface Comparison {
  readonly median: number | null;
  readonly ratio: number | null;
  readonly target: number | null;
  readonly met: boolean | null;
}

/**
 * A subject's median, and the median of its ratios round by round. Each round has its own base, measured moments before, because a
 * shared machine drifts by a third within minutes: medians of the whole run would compare a quiet minute with a busy one.
 */
export function compare(measurements: readonly Measurement[], line: Line, subject: SubjectName): Comparison {
  const figures = figuresOf(measurements, subject, line.shape, line.figure);
  const bases = basesOf(measurements, line, subject);
  const ratios = [...figures].flatMap(([round, figure]) => {
    const base = bases.get(round);
    return base === undefined ? [] : [figure / base];
  });
  const ratio = medianOrNull(ratios);
  const target = subject === 'raw' ? null : (line.target?.[subject] ?? null);
  const met =
    ratio === null || target === null ? null : line.target?.bound === 'at_most' ? ratio <= target : ratio >= target;
  return { median: medianOrNull([...figures.values()]), ratio, target, met };
}

function basesOf(measurements: readonly Measurement[], line: Line, subject: SubjectName): Map<number, number> {
  if (subject === 'raw' || line.compared_with === 'nothing') return new Map();
  return line.compared_with === 'raw'
    ? figuresOf(measurements, 'raw', line.shape, line.figure)
    : figuresOf(measurements, subject, 'bulk', 'per_second');
}

function figuresOf(
  measurements: readonly Measurement[],
  subject: SubjectName,
  shape: Measurement['shape'],
  figure: Figure,
): Map<number, number> {
  return new Map(
    measurements
      .filter((measurement) => measurement.subject === subject && measurement.shape === shape)
      .flatMap(({ round, sample }) => {
        const value = figureOf(sample, figure);
        return value === undefined ? [] : [[round, value] as const];
      }),
  );
}

function figureOf(sample: Sample, figure: Figure): number | undefined {
  switch (figure) {
    case 'per_second':
      return perSecond(sample);
    case 'finished_per_second':
      return perSecond({ count: sample.count + (sample.beside ?? 0), elapsed_ms: sample.elapsed_ms });
    case 'p50_ms':
    case 'p99_ms':
      return sample[figure];
  }
}

function medianOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : median(values);
}
