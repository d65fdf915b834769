import type { Schedule } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { CalendarClock, CirclePause, CirclePlay, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { type May, useMay } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Id } from '../../ui/id.js';
import { ListPage } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';
import { NewScheduleDialog } from './new-schedule.js';
import { ScheduleDialog, whenOf } from './schedule-dialog.js';

const COLUMNS: Column<Schedule>[] = [
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
];

export function Schedules() {
  const schedules = useQuery({ ...listQuery<Schedule>('schedules', '/v1/schedules'), refetchInterval: 15_000 });
  const may = useMay('submit', 'operate');
  const [adding, setAdding] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Schedule | null>(null);
  return (
    <ListPage
      title="Schedules"
      of={schedules}
      add="New schedule"
      may={may}
      onAdd={() => setAdding(true)}
      columns={COLUMNS}
      actionsOf={(one) => <ScheduleActions schedule={one} may={may} onDelete={() => setRemoving(one)} />}
      idOf={({ schedule_id }) => schedule_id}
      onOpen={({ schedule_id }) => setOpen(schedule_id)}
      empty={
        <EmptyState icon={<CalendarClock />} title="No schedules">
          <p>A schedule starts a tool or a plan at fixed times or at an interval.</p>
        </EmptyState>
      }
    >
      {adding ? <NewScheduleDialog onClose={() => setAdding(false)} /> : null}
      {open ? <ScheduleDialog id={open} onClose={() => setOpen(null)} /> : null}
      {removing ? <DeleteScheduleDialog schedule={removing} onClose={() => setRemoving(null)} /> : null}
    </ListPage>
  );
}

function ScheduleActions({ schedule, may, onDelete }: { schedule: Schedule; may: May; onDelete(): void }) {
  const send = useSend('schedules');
  const say = useToast();
  const { schedule_id, paused, name } = schedule;
  const pause = async () => {
    try {
      const set = (to: boolean) => send('PATCH', `/v1/schedules/${schedule_id}`, { paused: to });
      await set(!paused);
      say(`${name ?? schedule_id} ${paused ? 'is resumed' : 'is paused'}`, undefined, () => set(paused));
    } catch (error) {
      say.problem('Nothing was changed', error);
    }
  };
  return (
    <span className="row">
      <IconButton
        icon={paused ? <CirclePlay /> : <CirclePause />}
        label={paused ? 'Resume' : 'Pause'}
        may={may}
        onClick={() => void pause()}
      />
      <IconButton icon={<Trash2 />} label="Delete" may={may} onClick={onDelete} />
    </span>
  );
}

function DeleteScheduleDialog({ schedule, onClose }: { schedule: Schedule; onClose(): void }) {
  const send = useSend('schedules');
  const { schedule_id, name } = schedule;
  return (
    <FormDialog
      title={`Delete ${name ?? schedule_id}`}
      action="Delete"
      danger
      onClose={onClose}
      onSubmit={() => send('DELETE', `/v1/schedules/${schedule_id}`)}
    >
      <p>It starts nothing more. Runs that it started continue. This cannot be undone.</p>
    </FormDialog>
  );
}
