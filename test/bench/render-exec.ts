import type { ExecFindings } from './measure-exec.js';
import { median } from './statistics.js';
import { renderTable } from './table.js';

const TARGET = 0.7;
const NAMES = { bare: 'bare bubblewrap', raw: '', redis: 'Capstan, Redis', postgres: 'Capstan, Postgres' } as const;

/** Processes a second, and the median of the ratios to bare bubblewrap round by round. */
export function renderExec(findings: ExecFindings | null): string {
  if (findings === null) return '';
  if (findings.skipped !== null) return `Processes were not measured: ${findings.skipped}.`;
  const { rounds, in_flight } = findings;
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
      { title: `true, ${in_flight} in flight`, alignment: 'left' },
      { title: 'processes', alignment: 'right' },
      { title: 'ratio', alignment: 'right' },
      { title: 'target', alignment: 'left' },
    ],
    rows,
  );
}
