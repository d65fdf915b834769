import type { Schedule } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { CalendarClock, CirclePause, CirclePlay, Plus, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Id } from '../../ui/id.js';
import { ListBody } from '../../ui/list-body.js';
import { Page } from '../../ui/page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';
import { NewScheduleDialog } from './new-schedule.js';
import { ScheduleDialog, whenOf } from './schedule-dialog.js';

export function Schedules() {
  const schedules = useQuery({ ...listQuery<Schedule>('schedules', '/v1/schedules'), refetchInterval: 15_000 });
  const may = useMay('submit', 'operate');
  const send = useSend('schedules');
  const say = useToast();
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Schedule | null>(null);
  const columns = useMemo((): Column<Schedule>[] => {
    const pause = async ({ schedule_id, paused, name }: Schedule) => {
      try {
        const set = (to: boolean) => send('PATCH', `/v1/schedules/${schedule_id}`, { paused: to });
        await set(!paused);
        say(`${name ?? schedule_id} ${paused ? 'is resumed' : 'is paused'}`, undefined, () => set(paused));
      } catch (error) {
        say.problem('Nothing was changed', error);
      }
    };
    return [
      {
        id: 'name',
        header: 'Schedule',
        width: 'minmax(0, 1fr)',
        cell: (one) => (
          <span className="row">
            <strong className="truncate">
              <SafeText text={one.name ?? one.schedule_id} />
            </strong>
            {one.paused ? <Tag tone="amber">Paused</Tag> : null}
            {one.last_error ? <Tag tone="red">Last start failed</Tag> : null}
          </span>
        ),
      },
      {
        id: 'when',
        header: 'When',
        width: 'minmax(0, 0.8fr)',
        wide: true,
        cell: (one) => (
          <code>
            <SafeText text={whenOf(one)} />
          </code>
        ),
      },
      {
        id: 'what',
        header: 'What',
        width: 'minmax(0, 1fr)',
        wide: true,
        cell: ({ tool_id }) => <SafeText text={tool_id ?? 'a plan'} />,
      },
      { id: 'next', header: 'Next', width: '80px', cell: ({ next_at }) => (next_at ? <Time at={next_at} /> : '—') },
      {
        id: 'last',
        header: 'Last run',
        width: '130px',
        wide: true,
        cell: ({ last_run_id }) => (last_run_id ? <Id of={last_run_id} /> : '—'),
      },
      {
        id: 'actions',
        header: <span className="sr-only">Actions</span>,
        width: '64px',
        cell: (one) => (
          <span className="row">
            <Button
              kind="ghost"
              size="small"
              icon={one.paused ? <CirclePlay /> : <CirclePause />}
              aria-label={one.paused ? 'Resume' : 'Pause'}
              may={may}
              onClick={() => void pause(one)}
            />
            <Button
              kind="ghost"
              size="small"
              icon={<Trash2 />}
              aria-label="Delete"
              may={may}
              onClick={() => setRemoving(one)}
            />
          </span>
        ),
      },
    ];
  }, [may, say, send]);
  return (
    <Page
      title="Schedules"
      actions={
        <Button kind="primary" icon={<Plus />} may={may} onClick={() => setAdding(true)}>
          New schedule
        </Button>
      }
      flush
    >
      <ListBody of={schedules}>
        {(items) => (
          <DataTable
            label="Schedules"
            rows={items}
            columns={columns}
            idOf={({ schedule_id }) => schedule_id}
            row_height={42}
            onOpen={({ schedule_id }) => setOpen(schedule_id)}
            empty={
              <EmptyState icon={<CalendarClock />} title="No schedules">
                <p>A schedule starts a tool or a plan at fixed times or at an interval.</p>
              </EmptyState>
            }
          />
        )}
      </ListBody>
      {adding ? <NewScheduleDialog onClose={() => setAdding(false)} /> : null}
      {open ? <ScheduleDialog id={open} onClose={() => setOpen(null)} /> : null}
      {removing ? (
        <FormDialog
          title={`Delete ${removing.name ?? removing.schedule_id}`}
          action="Delete"
          danger
          onClose={() => setRemoving(null)}
          onSubmit={() => send('DELETE', `/v1/schedules/${removing.schedule_id}`)}
        >
          <p>It starts nothing more. Runs that it started continue. This cannot be undone.</p>
        </FormDialog>
      ) : null}
    </Page>
  );
}
