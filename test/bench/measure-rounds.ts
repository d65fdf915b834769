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

/** Everyone under one shape, then everyone under the next, round after round: a busy minute of the machine hits all alike. */
export async function measureRounds(subjects: readonly Subject[], options: MeasureRounds): Promise<Measurement[]> {
  const { rounds, seconds, progress } = options;
  const turns: { subject: Subject; shape: (typeof SHAPES)[number]; count: number }[] = [];
  for (const shape of SHAPES) {
    for (const subject of subjects) {
      progress.doing(`warming up: ${shape}, ${subject.name}`);
      turns.push({ subject, shape, count: await calibrate(subject, shape, seconds) });
    }
  }
  const measurements: Measurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const { subject, shape, count } of turns) {
      progress.doing(`round ${round} of ${rounds}: ${shape}, ${subject.name}`);
      const sample = await subject.measure(shape, count);
      progress.done(`round ${round} of ${rounds}: ${shape}, ${subject.name}: ${Math.round(perSecond(sample))}/s`);
      measurements.push({ round, subject: subject.name, shape, sample });
    }
  }
  return measurements;
}
