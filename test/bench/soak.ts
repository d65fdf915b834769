import type { CapstanUnderTest } from './capstan-under-test.js';
import type { Progress } from './progress.js';
import { residentMegabytes } from './rss.js';
import { perSecond } from './sample.js';

export interface Quarter {
  readonly subject: 'redis' | 'postgres';
  readonly percent: number;
  readonly per_second: number;
  readonly resident_mb: Readonly<Record<string, number>>;
}

/** Sends many at 50 in flight and looks at the memory after each quarter: it must stay flat. */
export async function soak(capstan: CapstanUnderTest, count: number, progress: Progress): Promise<Quarter[]> {
  const quarters: Quarter[] = [];
  for (const percent of [25, 50, 75, 100]) {
    progress.doing(`soak of ${count}, ${capstan.name}: to ${percent} %`);
    const sample = await capstan.measure('in_flight_50', Math.ceil(count / 4));
    const resident_mb = Object.fromEntries(
      capstan.processes().map(({ name, pid }) => [name, residentMegabytes(pid) ?? 0]),
    );
    quarters.push({ subject: capstan.name, percent, per_second: perSecond(sample), resident_mb });
    progress.done(`soak of ${count}, ${capstan.name}: ${percent} %: ${Math.round(perSecond(sample))}/s`);
  }
  return quarters;
}
