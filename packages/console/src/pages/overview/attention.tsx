import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { ambiguousQuery, type StatsNow } from '../../api/stats.js';
import { shortSpan, useNow } from '../../ui/time.js';

const LONG_WAIT_MS = 60_000;

/** The items that need attention now. */
export function Attention({ now: { runners, holds } }: { now: StatsNow }) {
  const clock = useNow();
  const { data: ambiguous = 0 } = useQuery(ambiguousQuery);
  const notes: [key: string, tone: 'amber' | 'red', ReactNode][] = [];
  for (const { runner, queued, workers, paused, oldest_waiting_at } of runners) {
    const waits = oldest_waiting_at === null ? 0 : clock - Date.parse(oldest_waiting_at);
    const calls = `${queued.toLocaleString()} ${queued === 1 ? 'call waits' : 'calls wait'}`;
    const link = (
      <Link to="/invocations" search={{ runner, status: 'queued' }}>
        {calls}
      </Link>
    );
    if (queued > 0 && workers === 0)
      notes.push([
        runner,
        'red',
        <>
          {link} for {runner}, which no worker serves.
        </>,
      ]);
    else if (queued > 0 && paused)
      notes.push([
        runner,
        'amber',
        <>
          {link} for {runner}, which is <Link to="/queues">paused</Link>.
        </>,
      ]);
    else if (queued > 0 && waits > LONG_WAIT_MS)
      notes.push([
        runner,
        'amber',
        <>
          {link} for {runner}, the first for {shortSpan(waits)}.
        </>,
      ]);
  }
  if (holds.expiring > 0)
    notes.push([
      'holds',
      'amber',
      <>
        <Link to="/approvals">
          {holds.expiring} {holds.expiring === 1 ? 'approval expires' : 'approvals expire'}
        </Link>{' '}
        within the hour.
      </>,
    ]);
  if (ambiguous > 0)
    notes.push([
      'ambiguous',
      'amber',
      <>
        <Link to="/invocations" search={{ status: 'ambiguous' }}>
          {ambiguous.toLocaleString()} {ambiguous === 1 ? 'call has' : 'calls have'} an unknown outcome
        </Link>{' '}
        and must be resolved by a person.
      </>,
    ]);
  if (notes.length === 0)
    return (
      <div className="note tone-green">
        <CircleCheck />
        <span>Nothing needs attention.</span>
      </div>
    );
  return (
    <div className="stack tight">
      {notes.map(([key, tone, text]) => (
        <div key={key} className={`note tone-${tone}`}>
          <TriangleAlert />
          <span>{text}</span>
        </div>
      ))}
    </div>
  );
}
