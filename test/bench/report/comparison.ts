import type { MeasuredShape, Measurement } from '../findings.js';
import { type CapstanName, perSecond, type Sample, type SubjectName } from '../subject.js';
import { median } from './statistics.js';

export type Figure = 'per_second' | 'p50_ms' | 'p99_ms' | 'finished_per_second';

/** A line of the report: a figure, what it is compared with, and what the ratio should be. */
export interface Line {
  readonly label: string;
  readonly shape: MeasuredShape;
  readonly figure: Figure;
  /** Others under the same shape, the fastest of them in each round; or Capstan itself under another shape. */
  readonly compared_with: { readonly others: readonly SubjectName[] } | { readonly own: MeasuredShape } | null;
  readonly target?: { readonly bound: 'at_least' | 'at_most' } & Readonly<Record<CapstanName, number>>;
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
  const bases = isCapstan(subject) ? basesOf(measurements, line, subject) : new Map<number, number>();
  const ratios = [...figures].flatMap(([round, figure]) => {
    const base = bases.get(round);
    return base === undefined ? [] : [figure / base];
  });
  const ratio = medianOrNull(ratios);
  const target = isCapstan(subject) ? (line.target?.[subject] ?? null) : null;
  const met =
    ratio === null || target === null ? null : line.target?.bound === 'at_most' ? ratio <= target : ratio >= target;
  return { median: medianOrNull([...figures.values()]), ratio, target, met };
}

export const isCapstan = (subject: SubjectName): subject is CapstanName =>
  subject === 'redis' || subject === 'postgres';

function basesOf(measurements: readonly Measurement[], line: Line, subject: SubjectName): Map<number, number> {
  if (line.compared_with === null) return new Map();
  if ('own' in line.compared_with) return figuresOf(measurements, subject, line.compared_with.own, 'per_second');
  const bases = new Map<number, number>();
  for (const other of line.compared_with.others)
    for (const [round, figure] of figuresOf(measurements, other, line.shape, line.figure))
      bases.set(round, Math.max(figure, bases.get(round) ?? 0));
  return bases;
}

function figuresOf(
  measurements: readonly Measurement[],
  subject: SubjectName,
  shape: MeasuredShape,
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
