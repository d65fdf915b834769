import type { PlanRound } from '../findings.js';
import { perSecond } from '../subject.js';
import { median } from './statistics.js';
import { type Column, renderTable } from './table.js';

const NAMES = { redis: 'Redis', postgres: 'Postgres' } as const;
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
  const keys = [...new Set(rounds.map(({ title, subject }) => `${title}\n${subject}`))];
  const rows = keys.flatMap((key) => rowOf(rounds.filter(({ title, subject }) => `${title}\n${subject}` === key)));
  return rows.length === 0 ? '' : renderTable(COLUMNS, rows);
}

/** None if one of the two failed in every round. */
function rowOf(rounds: readonly PlanRound[]): string[][] {
  const elapsed = (kind: PlanRound['kind']) =>
    new Map(rounds.filter((one) => one.kind === kind).map(({ round, elapsed_ms }) => [round, elapsed_ms]));
  const [bulk, plan] = [elapsed('bulk'), elapsed('plan')];
  const ratios = [...plan].flatMap(([round, elapsed_ms]) => {
    const base = bulk.get(round);
    return base === undefined ? [] : [elapsed_ms / base];
  });
  const [first] = rounds;
  if (first === undefined || ratios.length === 0) return [];
  const ratio = median(ratios);
  const rate = (times: ReadonlyMap<number, number>) =>
    `${Math.round(perSecond({ count: first.count, elapsed_ms: median([...times.values()]) }))}/s`;
  const verdict = `≤ ${first.target} ${ratio <= first.target ? '✓' : '✗'}`;
  return [[first.title, NAMES[first.subject], rate(bulk), rate(plan), ratio.toFixed(2), verdict]];
}
