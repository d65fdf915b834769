import { attempt, type Bench } from '../bench.js';
import type { ExecRound } from '../findings.js';
import { startOwnProcess } from '../own-process.js';
import { median } from '../report/statistics.js';
import { renderTable } from '../report/table.js';
import { perSecond, Sample } from '../subject.js';
import { type BareOrder, hasBubblewrap, IN_FLIGHT, withExecWorkers } from './exec-workers.js';

/** About what two cores spawn in a second. */
const PER_SECOND = 150;
/** At so few calls a second it takes long until V8 has compiled what they run through: after 3,000 a call costs half as much. */
const WARM_UP = { full: 3_000, quick: 100 };
const TARGET = 0.7;
const NAMES = { bare: 'bare bubblewrap', redis: 'Capstan, Redis', postgres: 'Capstan, Postgres' } as const;

/** `true` as a process in its sandbox: through the whole system, and by nothing but bubblewrap, in turns. */
export async function measureExec(bench: Bench): Promise<void> {
  const { capstans, load, findings, progress, options } = bench;
  if (!hasBubblewrap()) {
    findings.notes.push('Processes were not measured: bubblewrap does not work on this machine.');
    return;
  }
  const bare = await startOwnProcess('./parts/bare-bubblewrap.js');
  const warm_up = options.quick ? WARM_UP.quick : WARM_UP.full;
  const orderOf = (round: number): BareOrder => ({
    in_flight: IN_FLIGHT,
    count: round === 0 ? warm_up : options.seconds * PER_SECOND,
  });
  const turns = [
    { subject: 'bare' as const, measure: (round: number) => bare.ask(orderOf(round), Sample) },
    ...capstans.map(({ name, endpoint }) => ({
      subject: name,
      measure: (round: number) => load.send({ ...endpoint, ...orderOf(round), calls: 'process' }),
    })),
  ];
  await withExecWorkers(capstans, async () => {
    for (let round = 0; round <= options.rounds; round++)
      for (const { subject, measure } of turns)
        await attempt(bench, { part: `round ${round} of ${options.rounds}: exec, ${subject}` }, async () => {
          const per_second = perSecond(await measure(round));
          if (round === 0) return; // a warm-up
          progress.done(`round ${round} of ${options.rounds}: exec, ${subject}: ${Math.round(per_second)}/s`);
          findings.exec.push({ round, subject, per_second });
        });
  });
}

/** Processes a second, and the median of the ratios to bare bubblewrap round by round. */
export function renderExec(rounds: readonly ExecRound[]): string {
  if (rounds.length === 0) return '';
  const subjects = [...new Set(rounds.map(({ subject }) => subject))];
  const rows = subjects.map((subject) => {
    const own = rounds.filter((found) => found.subject === subject);
    const ratios = own.flatMap(({ round, per_second }) => {
      const base = rounds.find((found) => found.round === round && found.subject === 'bare');
      return base === undefined || subject === 'bare' ? [] : [per_second / base.per_second];
    });
    const rate = `${Math.round(median(own.map(({ per_second }) => per_second)))}/s`;
    if (ratios.length === 0) return [NAMES[subject], rate, '', ''];
    const ratio = median(ratios);
    return [NAMES[subject], rate, ratio.toFixed(2), `≥ ${TARGET} ${ratio >= TARGET ? '✓' : '✗'}`];
  });
  return renderTable(
    [
      { title: `true, ${IN_FLIGHT} in flight`, alignment: 'left' },
      { title: 'processes', alignment: 'right' },
      { title: 'ratio', alignment: 'right' },
      { title: 'target', alignment: 'left' },
    ],
    rows,
  );
}
