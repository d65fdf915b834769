import type { NewQuotaInput, QuotaLimits, QuotaUsage } from '@capstan/contracts';
import { useState } from 'react';
import { useSend } from '../../api/lists.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { useToast } from '../../ui/toast.js';

const FIELDS: readonly (readonly [keyof QuotaLimits, string])[] = [
  ['max_concurrent', 'At the same time'],
  ['calls_per_minute', 'Calls a minute'],
  ['calls_per_day', 'Calls a day'],
  ['max_runtime_ms_per_day', 'Milliseconds of run time a day'],
  ['max_cost_units_per_day', 'Cost units a day'],
];

export function QuotaDialog({ quota, onClose }: { quota: QuotaUsage | null; onClose(): void }) {
  const send = useSend('quotas');
  const say = useToast();
  const [scope, setScope] = useState(quota?.scope ?? 'tenant:default');
  const [limits, setLimits] = useState<Record<string, string>>(
    Object.fromEntries(Object.entries(quota?.limits ?? {}).map(([name, value]) => [name, String(value)])),
  );
  const [exceed, setExceed] = useState<string>(quota?.on_exceed ?? 'defer');
  const submit = async () => {
    const given = Object.entries(limits).filter(([, value]) => value.trim() !== '');
    const body: NewQuotaInput = {
      ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)])),
      on_exceed: exceed === 'deny' ? 'deny' : 'defer',
    };
    await send('PUT', `/v1/quotas/${encodeURIComponent(scope)}`, body);
    say(`${scope} is limited`);
  };
  return (
    <FormDialog title={quota ? `Change ${quota.scope}` : 'New quota'} action="Save" onClose={onClose} onSubmit={submit}>
      {quota ? null : (
        <TextField
          label="What it limits"
          code
          value={scope}
          onChange={setScope}
          hint="tenant:…, actor:…, tool:… (with *), source:… or runner:…"
        />
      )}
      {FIELDS.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          type="number"
          placeholder="not limited"
          value={limits[name] ?? ''}
          onChange={(value) => setLimits({ ...limits, [name]: value })}
        />
      ))}
      <SelectField
        label="A call that exceeds it"
        value={exceed}
        onChange={setExceed}
        options={[
          ['defer', 'waits until there is room'],
          ['deny', 'is denied'],
        ]}
      />
    </FormDialog>
  );
}
