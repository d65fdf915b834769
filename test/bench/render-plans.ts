import type { PlanRound } from './measure-plans.js';
import { perSecond } from './sample.js';
import { median } from './statistics.js';
import { type Column, renderTable } from './table.js';

/** How much longer than a bulk of as many calls a plan may take. */
const TARGET = 1.2;
const NAMES = { raw: '', redis: 'Redis', postgres: 'Postgres' } as const;
const COLUMNS: Column[] = [
  { title: 'plans', alignment: 'left' },
  { title: 'queue', alignment: 'left' },
  { title: 'as bulk', alignment: 'right' },
  { title: 'as plan', alignment: 'right' },
  { title: 'time', alignment: 'right' },
  { title: 'target', alignment: 'left' },
];

/** Steps a second, and the median of how many times as long as its bulk a plan took, round by round. */
export function renderPlans(rounds: readonly PlanRound[]): string {
  if (rounds.length === 0) return '';
  const keys = [...new Set(rounds.map(({ title, subject }) => `${title}\n${subject}`))];
  return renderTable(
    COLUMNS,
    keys.map((key) => rowOf(rounds.filter(({ title, subject }) => `${title}\n${subject}` === key))),
  );
}

function rowOf(rounds: readonly PlanRound[]): string[] {
  const [first] = rounds;
  if (!first) return [];
  const times = (kind: PlanRound['kind']) =>
    rounds.filter((one) => one.kind === kind).map(({ elapsed_ms }) => elapsed_ms);
  const [bulk, plan] = [times('bulk'), times('plan')];
  const ratio = median(plan.map((elapsed_ms, round) => elapsed_ms / (bulk[round] ?? Number.NaN)));
  const rate = (elapsed: readonly number[]) =>
    `${Math.round(perSecond({ count: first.count, elapsed_ms: median(elapsed) }))}/s`;
  const verdict = `≤ ${TARGET} ${ratio <= TARGET ? '✓' : '✗'}`;
  return [first.title, NAMES[first.subject], rate(bulk), rate(plan), ratio.toFixed(2), verdict];
}
