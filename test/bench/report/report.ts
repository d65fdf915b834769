import type { Findings } from '../findings.js';
import type { Options } from '../options.js';
import { renderApp } from '../parts/measure-app.js';
import { renderDecisions } from '../parts/measure-decisions.js';
import { renderExec } from '../parts/measure-exec.js';
import { renderBloat } from '../parts/measure-snapshot.js';
import type { SubjectName } from '../subject.js';
import { compare, isCapstan, type Line } from './comparison.js';
import { costRows, idleRows, memoryRows, overloadRows, type Row, redisRows, soakRows } from './cost-rows.js';
import { linesOf } from './lines.js';
import { renderPlans } from './render-plans.js';
import { type Column, renderTable } from './table.js';

const TITLES: Record<SubjectName, string> = {
  bullmq: 'raw BullMQ',
  graphile: 'graphile-worker',
  pgboss: 'pg-boss',
  redis: 'Capstan, Redis',
  postgres: 'Capstan, Postgres',
};
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Everything that was found, and for what was not, why. What was not measured has no line. */
export function renderReport(findings: Findings, options: Options): string {
  return [
    renderMain(findings, options),
    renderPlans(findings.plans),
    renderExec(findings.exec),
    renderApp(findings.app),
    renderDecisions(findings.decisions),
    renderBloat(findings.bloat),
    findings.notes.join('\n'),
    renderFailures(findings),
    renderTimes(findings),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

function renderMain(findings: Findings, options: Options): string {
  const rows = [
    ...linesOf(options).map((line) => comparisonRow(findings, line)),
    ...costRows(findings.measurements),
    ...redisRows(findings.redis_memory),
    ...idleRows(findings.idle),
    ...overloadRows(findings.overload),
    ...memoryRows(findings.memory),
    ...soakRows(findings.soak),
  ].filter(({ cells }) => Object.keys(cells).length > 0);
  if (rows.length === 0) return '';
  const table = renderTable(
    [{ title: 'medians', alignment: 'left' }, ...options.only.flatMap(columnsOf)],
    rows.map(({ label, cells }) => [
      label,
      ...options.only.flatMap((subject) => columnsOf(subject).map((_, index) => cells[subject]?.[index] ?? '')),
    ]),
  );
  return [
    table,
    'Raw BullMQ adds one by one, 50 in flight, in every line but that of the lone call, and keeps nothing on disk. The other two keep',
    'jobs in Postgres, as Capstan does. A ratio is to raw BullMQ in the same round unless its line says otherwise; with calls waiting it is',
    'to its own bulk, with sealing to the rate without a coordinator, with a snapshot held to the rate before.',
  ].join('\n');
}

function columnsOf(subject: SubjectName): Column[] {
  const figure: Column = { title: TITLES[subject], alignment: 'right' };
  if (!isCapstan(subject)) return [figure];
  return [figure, { title: 'ratio', alignment: 'right' }, { title: 'target', alignment: 'left' }];
}

function comparisonRow({ measurements, failures }: Findings, line: Line): Row {
  const cells: Row['cells'] = {};
  for (const subject of ['bullmq', 'graphile', 'pgboss', 'redis', 'postgres'] as const) {
    // A line below another has only what differs.
    if (line.label.startsWith(' ') && !isCapstan(subject)) continue;
    const { median, ratio, target, met } = compare(measurements, line, subject);
    const failed = failures.some((failure) => failure.subject === subject && failure.shape === line.shape);
    if (median === null && !failed) continue;
    if (line.label.startsWith(' ') && line.compared_with !== null && ratio === null) continue;
    const sign = line.target?.bound === 'at_most' ? '≤' : '≥';
    cells[subject] = [
      median === null ? 'failed' : `${figureText(line, median)}${failed ? ' (failed once)' : ''}`,
      ratio === null ? '' : ratio.toFixed(2),
      target === null || met === null ? '' : `${sign} ${target} ${met ? '✓' : '✗'}`,
    ];
  }
  return { label: line.label, cells };
}

const figureText = ({ figure }: Line, value: number): string =>
  figure === 'p50_ms' || figure === 'p99_ms' ? `${value.toFixed(2)} ms` : `${whole.format(value)}/s`;

function renderFailures({ failures }: Findings): string {
  const lines = failures.map(
    ({ part, subject, message }) => `  ${[part, subject].filter(Boolean).join(', ')}: ${message}`,
  );
  return lines.length === 0 ? '' : ['Failed:', ...lines].join('\n');
}

function renderTimes({ part_seconds }: Findings): string {
  const times = Object.entries(part_seconds).map(([part, seconds]) => `${part} ${seconds} s`);
  return times.length === 0 ? '' : `Took: ${times.join(', ')}`;
}
