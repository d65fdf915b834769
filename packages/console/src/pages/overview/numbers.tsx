import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Stats, StatsNow } from '../../api/stats.js';

const sum = <T,>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((all, item) => all + of(item), 0);

/** Figures of the present and of the time span, each with a link to its list. */
export function Numbers({ now: { runners, holds }, stats }: { now: StatsNow; stats: Stats }) {
  const ended = sum(stats.series, ({ points }) => sum(points, ({ count }) => count));
  const failed = sum(stats.series, ({ points }) => sum(points, (point) => point.failed));
  const slots = Math.max(0, ...runners.map((each) => each.slots));
  return (
    <div className="numbers">
      <Figure label="Waiting for a person" value={holds.pending} tone={holds.pending > 0 ? 'amber' : ''}>
        <Link to="/approvals">Approvals</Link>
      </Figure>
      <Figure label="Queued" value={sum(runners, ({ queued }) => queued)}>
        <Link to="/invocations" search={{ status: 'queued' }}>
          List
        </Link>
      </Figure>
      <Figure label="Running" value={sum(runners, ({ running }) => running)}>
        <span className="muted">{slots.toLocaleString()} slots at most</span>
      </Figure>
      <Figure label="Ended" value={ended}>
        <Link to="/invocations">List</Link>
      </Figure>
      <Figure label="Went wrong" value={failed} tone={failed > 0 ? 'red' : ''}>
        <span className="muted">
          {ended === 0 ? '' : `${((100 * failed) / ended).toFixed(failed / ended < 0.1 ? 1 : 0)} %`}
        </span>{' '}
        <Link to="/invocations" search={{ status: 'failed,timed_out,ambiguous' }}>
          List
        </Link>
      </Figure>
    </div>
  );
}

const Figure = ({
  label,
  value,
  tone = '',
  children,
}: {
  label: string;
  value: number;
  tone?: string;
  children: ReactNode;
}) => (
  <div className={`figure ${tone ? `tone-${tone}` : ''}`}>
    <span className="muted">{label}</span>
    <span className="figure-value num">{value.toLocaleString()}</span>
    <span>{children}</span>
  </div>
);
