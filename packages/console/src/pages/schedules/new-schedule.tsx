import type { NewSchedule } from '@capstan/contracts';
import { useState } from 'react';
import { useSend } from '../../api/lists.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { useToast } from '../../ui/toast.js';

export function NewScheduleDialog({ onClose }: { onClose(): void }) {
  const send = useSend('schedules');
  const say = useToast();
  const [name, setName] = useState('');
  const [by, setBy] = useState('cron');
  const [cron, setCron] = useState('0 3 * * *');
  const [zone, setZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [minutes, setMinutes] = useState('60');
  const [what, setWhat] = useState('tool');
  const [tool, setTool] = useState('');
  const [document, setDocument] = useState('');
  const [overlap, setOverlap] = useState<string>('skip');
  const submit = async () => {
    const schedule: NewSchedule = {
      ...(name ? { name } : {}),
      ...(by === 'cron' ? { cron, time_zone: zone } : { every_ms: Number(minutes) * 60_000 }),
      ...(what === 'tool'
        ? { tool_id: tool, inputs: document.trim() === '' ? {} : JSON.parse(document) }
        : { plan: document }),
      overlap: overlap as 'skip' | 'queue' | 'cancel',
    };
    await send('POST', '/v1/schedules', schedule);
    say('Scheduled');
  };
  return (
    <FormDialog title="New schedule" action="Schedule" onClose={onClose} onSubmit={submit} width={560}>
      <TextField label="Name" value={name} onChange={setName} />
      <SelectField
        label="When"
        value={by}
        onChange={setBy}
        options={[
          ['cron', 'By the calendar (cron)'],
          ['every', 'At an interval, in minutes'],
        ]}
      />
      {by === 'cron' ? (
        <>
          <TextField label="Cron" code value={cron} onChange={setCron} hint="Minute, hour, day, month, weekday" />
          <TextField label="Time zone" value={zone} onChange={setZone} />
        </>
      ) : (
        <TextField label="Minutes" type="number" value={minutes} onChange={setMinutes} />
      )}
      <SelectField
        label="What"
        value={what}
        onChange={setWhat}
        options={[
          ['tool', 'A tool'],
          ['plan', 'A plan'],
        ]}
      />
      {what === 'tool' ? <TextField label="Tool" code value={tool} onChange={setTool} /> : null}
      <TextField
        label={what === 'tool' ? 'Inputs (JSON)' : 'Plan (YAML)'}
        code
        lines={6}
        value={document}
        onChange={setDocument}
      />
      <SelectField
        label="If the previous one still runs"
        value={overlap}
        onChange={setOverlap}
        options={[
          ['skip', 'Skip this one'],
          ['queue', 'Start it right after'],
          ['cancel', 'Cancel the previous one'],
        ]}
      />
    </FormDialog>
  );
}
