import { calibrate } from './calibrate.js';
import type { Measurement } from './comparison.js';
import type { Progress } from './progress.js';
import { perSecond } from './sample.js';
import { SHAPES, type Subject } from './subject.js';

export interface MeasureRounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly progress: Progress;
}

/**
 * Shape after shape, and within a shape round after round, everyone in turn: a busy minute of the machine hits all alike,
 * and a lone call is not measured while the load of another shape is still being sealed.
 */
export async function measureRounds(subjects: readonly Subject[], options: MeasureRounds): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const shape of SHAPES) measurements.push(...(await measureShape(shape, subjects, options)));
  return measurements;
}

async function measureShape(
  shape: (typeof SHAPES)[number],
  subjects: readonly Subject[],
  { rounds, seconds, progress }: MeasureRounds,
): Promise<Measurement[]> {
  const turns: { subject: Subject; count: number }[] = [];
  for (const subject of subjects) {
    progress.doing(`warming up: ${shape}, ${subject.name}`);
    turns.push({ subject, count: await calibrate(subject, shape, seconds) });
  }
  const measurements: Measurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const { subject, count } of turns) {
      progress.doing(`round ${round} of ${rounds}: ${shape}, ${subject.name}`);
      const sample = await subject.measure(shape, count);
      progress.done(`round ${round} of ${rounds}: ${shape}, ${subject.name}: ${Math.round(perSecond(sample))}/s`);
      measurements.push({ round, subject: subject.name, shape, sample });
    }
  }
  return measurements;
}
