import { attempt, type Bench } from '../bench.js';
import { residentMegabytes } from '../rss.js';
import { perSecond } from '../subject.js';

/** Sends many at 50 in flight and looks at the memory after each quarter: it must stay flat. */
export async function measureSoak(bench: Bench): Promise<void> {
  const { capstans, options, findings, progress } = bench;
  if (options.soak === 0) return;
  for (const capstan of capstans)
    for (const percent of [25, 50, 75, 100])
      await attempt(bench, { part: `soak of ${options.soak}: to ${percent} %`, subject: capstan.name }, async () => {
        const per_second = perSecond(await capstan.measure('in_flight_50', Math.ceil(options.soak / 4)));
        const resident = capstan.services().map(({ name, pid }) => [name, residentMegabytes(pid) ?? 0]);
        findings.soak.push({ subject: capstan.name, percent, per_second, resident_mb: Object.fromEntries(resident) });
        progress.done(`soak of ${options.soak}, ${capstan.name}: ${percent} %: ${Math.round(per_second)}/s`);
      });
}
