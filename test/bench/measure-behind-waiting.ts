import { openBehindWaiting } from './behind-waiting.js';
import type { CapstanUnderTest } from './capstan-under-test.js';
import type { Measurement } from './comparison.js';
import type { LoadGenerator } from './load-generator.js';
import type { Progress } from './progress.js';
import { perSecond } from './sample.js';

export interface MeasureBehindWaiting {
  readonly without_waiting: readonly Measurement[];
  readonly waiting: number;
  readonly rounds: number;
  readonly load: LoadGenerator;
  readonly progress: Progress;
}

/** As many calls at 50 in flight as without the waiting ones. After the other rounds, for what waits here would be in the way there. */
export async function measureBehindWaiting(
  capstans: readonly CapstanUnderTest[],
  { without_waiting, waiting, rounds, load, progress }: MeasureBehindWaiting,
): Promise<Measurement[]> {
  const turns = capstans.map((capstan) => {
    const same = without_waiting.find(({ subject, shape }) => subject === capstan.name && shape === 'in_flight_50');
    return {
      name: capstan.name,
      behind: openBehindWaiting(capstan, load, waiting),
      count: same?.sample.count ?? 1_000,
    };
  });
  const measurements: Measurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const { name, behind, count } of turns) {
      progress.doing(`round ${round} of ${rounds}: ${waiting} waiting, ${name}`);
      const sample = await behind.measure(count);
      progress.done(`round ${round} of ${rounds}: ${waiting} waiting, ${name}: ${Math.round(perSecond(sample))}/s`);
      measurements.push({ round, subject: name, shape: 'behind_waiting', sample });
    }
  }
  return measurements;
}
