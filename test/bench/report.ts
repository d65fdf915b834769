import { type Comparison, compare, type Line, type Measurement } from './comparison.js';
import type { DecisionFindings } from './measure-decisions.js';
import type { ExecFindings } from './measure-exec.js';
import type { PlanRound } from './measure-plans.js';
import type { Memory } from './rss.js';
import type { Quarter } from './soak.js';
import type { SubjectName } from './subject.js';
import { type Column, renderTable } from './table.js';

export interface Findings {
  readonly measurements: readonly Measurement[];
  readonly memory: readonly Memory[];
  readonly soak: readonly Quarter[];
  readonly waiting: number;
  /** Null when it was not measured. */
  readonly exec: ExecFindings | null;
  readonly plans: readonly PlanRound[];
  readonly decisions: DecisionFindings;
}

const FIRST_COLUMN: Column = { title: 'medians', alignment: 'left' };

const COLUMNS: Record<SubjectName, readonly Column[]> = {
  raw: [{ title: 'raw BullMQ', alignment: 'right' }],
  redis: columnsOf('Capstan, Redis'),
  postgres: columnsOf('Capstan, Postgres'),
};

function columnsOf(title: string): Column[] {
  return [
    { title, alignment: 'right' },
    { title: 'ratio', alignment: 'right' },
    { title: 'target', alignment: 'left' },
  ];
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function linesOf(waiting: number): Line[] {
  const raw = { compared_with: 'raw' } as const;
  const behind = { shape: 'behind_waiting' } as const;
  return [
    {
      label: 'lone call, p50',
      shape: 'lone',
      figure: 'p50_ms',
      ...raw,
      target: { bound: 'at_most', redis: 4, postgres: 4 },
    },
    { label: 'lone call, p99', shape: 'lone', figure: 'p99_ms', ...raw },
    { label: '1 in flight', shape: 'lone', figure: 'per_second', ...raw },
    ...[
      { label: '50 in flight', shape: 'in_flight_50', redis: 0.5, postgres: 0.7 } as const,
      { label: '500 in flight', shape: 'in_flight_500', redis: 0.8, postgres: 1 } as const,
      { label: 'bulk', shape: 'bulk', redis: 0.8, postgres: 1 } as const,
    ].map(({ label, shape, redis, postgres }): Line => {
      return { label, shape, figure: 'per_second', ...raw, target: { bound: 'at_least', redis, postgres } };
    }),
    {
      ...behind,
      label: `finished, ${whole.format(waiting)} waiting`,
      figure: 'finished_per_second',
      compared_with: 'own_bulk',
      target: { bound: 'at_least', redis: 0.8, postgres: 0.8 },
    },
    { ...behind, label: '  of these, 50 in flight', figure: 'per_second', compared_with: 'nothing' },
  ];
}

/** One table; what was not measured has no column and no line. */
export function renderReport(findings: Findings, subjects: readonly SubjectName[]): string {
  const lines = linesOf(findings.waiting).map((line) => [
    line.label,
    ...subjects.flatMap((subject) => comparisonCells(compare(findings.measurements, line, subject), line, subject)),
  ]);
  const rows = [...lines, ...memoryRows(findings.memory, subjects), ...soakRows(findings.soak, subjects)];
  const columns = [FIRST_COLUMN, ...subjects.flatMap((subject) => COLUMNS[subject])];
  return [
    renderTable(
      columns,
      rows.filter(([, ...figures]) => figures.some((figure) => figure !== '')),
    ),
    'Raw adds one by one, 50 in flight, in every line but those of the lone call. A ratio is to raw in the same round',
    'or, with others waiting, to its own bulk: the worker runs those that wait whenever nothing more urgent is there.',
  ].join('\n');
}

function comparisonCells(comparison: Comparison, { figure, target }: Line, subject: SubjectName): string[] {
  const { median, ratio, met } = comparison;
  if (median === null) return cellsOf(subject, '');
  const latency = figure === 'p50_ms' || figure === 'p99_ms';
  const text = latency ? `${median.toFixed(2)} ms` : `${whole.format(median)}/s`;
  const sign = target?.bound === 'at_most' ? '≤' : '≥';
  const verdict = comparison.target === null || met === null ? '' : `${sign} ${comparison.target} ${met ? '✓' : '✗'}`;
  return cellsOf(subject, text, ratio === null ? '' : ratio.toFixed(2), verdict);
}

function memoryRows(memory: readonly Memory[], subjects: readonly SubjectName[]): string[][] {
  return ['gateway', 'worker', 'coordinator'].map((service) => {
    const text = (subject: SubjectName) => {
      const found = memory.find(({ process }) => process === `${service} on ${subject}`);
      return found === undefined ? '' : `${whole.format(found.median_mb)}, peak ${whole.format(found.peak_mb)} MB`;
    };
    return [`memory of the ${service}`, ...subjects.flatMap((subject) => cellsOf(subject, text(subject)))];
  });
}

function soakRows(soak: readonly Quarter[], subjects: readonly SubjectName[]): string[][] {
  return [25, 50, 75, 100].map((percent) => {
    const text = (subject: SubjectName) => {
      const quarter = soak.find((found) => found.subject === subject && found.percent === percent);
      return quarter === undefined ? '' : `${Object.values(quarter.resident_mb).map(whole.format).join(' · ')} MB`;
    };
    const label = `soak, ${percent} % (gateway · worker · coordinator)`;
    return [label, ...subjects.flatMap((subject) => cellsOf(subject, text(subject)))];
  });
}

/** As many cells as the subject has columns. */
function cellsOf(subject: SubjectName, ...texts: string[]): string[] {
  return COLUMNS[subject].map((_, index) => texts[index] ?? '');
}
