import type { Schedule, ScheduleDetail } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/request.js';
import { inWords, Tag } from '../../ui/badge.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Facts } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, exactTime, Time } from '../../ui/time.js';

export const whenOf = ({ cron, time_zone, every_ms }: Schedule): string =>
  every_ms === null ? `${cron} ${time_zone}` : `every ${duration(every_ms)}`;

const TONES = { started: 'green', skipped: 'grey', queued: 'blue', failed: 'red' } as const;

/** The next starts, and the outcomes of the last ones. */
export function ScheduleDialog({ id, onClose }: { id: string; onClose(): void }) {
  const { data, error } = useQuery({
    queryKey: ['schedules', id],
    queryFn: ({ signal }) => get<ScheduleDetail>(`/v1/schedules/${encodeURIComponent(id)}`, {}, signal),
  });
  return (
    <Dialog title={data?.name ?? 'Schedule'} onClose={onClose} width={600}>
      {data ? (
        <>
          <Facts
            of={[
              ['When', <code key="when">{whenOf(data)}</code>],
              ['Starts as', <SafeText key="actor" text={data.actor} />],
              ['Overlap', inWords(data.overlap)],
              ['Paused', data.paused_reason && <SafeText key="paused" text={data.paused_reason} />],
              ['Error', data.last_error && <SafeText key="error" text={data.last_error} />],
              ['Next', data.next.slice(0, 5).map(exactTime).join(' · ')],
            ]}
          />
          <h3>Last starts</h3>
          {data.last.length === 0 ? <p className="muted">It has not started anything yet.</p> : null}
          <ul className="stack tight">
            {data.last.slice(0, 10).map(({ fire_at, outcome, run_id, detail }) => (
              <li key={fire_at} className="row wrap">
                <Tag tone={TONES[outcome]}>{inWords(outcome)}</Tag>
                <Time at={fire_at} />
                {run_id ? <Id of={run_id} /> : null}
                {detail ? (
                  <span className="muted">
                    <SafeText text={detail} />
                  </span>
                ) : null}
              </li>
            ))}
          </ul>
          <h3>{data.plan ? 'Plan' : 'Inputs'}</h3>
          <JsonView label={data.plan ? 'Plan' : 'Inputs'} value={data.plan ?? data.inputs} />
        </>
      ) : error ? (
        <ErrorState error={error} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}
