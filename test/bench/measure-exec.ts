import type { BareOrder } from './bare-messages.js';
import type { CapstanUnderTest } from './capstan-under-test.js';
import type { Cleanup } from './cleanup.js';
import { hasBubblewrap, IN_FLIGHT, withExecWorkers } from './exec-workers.js';
import type { LoadGenerator } from './load-generator.js';
import { startOwnProcess } from './own-process.js';
import type { Progress } from './progress.js';
import { perSecond, Sample } from './sample.js';
import type { SubjectName } from './subject.js';

export interface ExecFindings {
  readonly in_flight: number;
  /** Why there are no rounds. */
  readonly skipped: string | null;
  readonly rounds: readonly { round: number; subject: SubjectName | 'bare'; per_second: number }[];
}

export interface MeasureExec {
  readonly rounds: number;
  readonly seconds: number;
  readonly load: LoadGenerator;
  readonly progress: Progress;
  readonly cleanup: Cleanup;
}

/** About what two cores spawn in a second. */
const PER_SECOND = 150;
/** At so few calls a second it takes long until V8 has compiled what they run through: after 3,000 a call costs half as much. */
const WARM_UP = 1000;

/** `true` as a process in its sandbox: through the whole system, and by nothing but bubblewrap, in turns. */
export async function measureExec(capstans: readonly CapstanUnderTest[], options: MeasureExec): Promise<ExecFindings> {
  const { rounds, seconds, load, progress, cleanup } = options;
  if (!hasBubblewrap())
    return { in_flight: IN_FLIGHT, skipped: 'bubblewrap does not work on this machine', rounds: [] };
  const bare = await startOwnProcess('./bare-bubblewrap.js', { cleanup });
  const orderOf = (round: number) => ({ in_flight: IN_FLIGHT, count: seconds * (round === 0 ? WARM_UP : PER_SECOND) });
  const turns = [
    { subject: 'bare' as const, measure: (round: number) => bare.ask(orderOf(round) satisfies BareOrder, Sample) },
    ...capstans.map(({ name, endpoint }) => ({
      subject: name,
      measure: (round: number) => load.send({ ...endpoint, ...orderOf(round), calls: 'process' }),
    })),
  ];
  const found: { round: number; subject: SubjectName | 'bare'; per_second: number }[] = [];
  await withExecWorkers(capstans, async () => {
    for (let round = 0; round <= rounds; round++)
      for (const { subject, measure } of turns) {
        progress.doing(round === 0 ? `warming up: exec, ${subject}` : `round ${round} of ${rounds}: exec, ${subject}`);
        const per_second = perSecond(await measure(round));
        if (round === 0) continue;
        progress.done(`round ${round} of ${rounds}: exec, ${subject}: ${Math.round(per_second)}/s`);
        found.push({ round, subject, per_second });
      }
  });
  return { in_flight: IN_FLIGHT, skipped: null, rounds: found };
}
