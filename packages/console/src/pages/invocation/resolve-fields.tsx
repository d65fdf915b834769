import type { Resolution } from '@capstan/contracts';
import type { May } from '../../api/me.js';
import { SelectField, TextField } from '../../ui/field.js';

/** What a person found out about ambiguous calls. */
export type Finding = Pick<Resolution, 'outcome'> & { comment: string };
export const NOTHING_FOUND: Finding = { outcome: 'succeeded', comment: '' };

export const mayResolve = ({ comment }: Finding): May =>
  comment.trim() ? { ok: true, why: null } : { ok: false, why: 'First say how you know.' };

export const ResolveFields = ({ value, onChange }: { value: Finding; onChange(value: Finding): void }) => (
  <>
    <SelectField
      label="What happened"
      value={value.outcome}
      onChange={(outcome) => onChange({ ...value, outcome: outcome === 'failed' ? 'failed' : 'succeeded' })}
      options={[
        ['succeeded', 'It took effect'],
        ['failed', 'It did not take effect'],
      ]}
    />
    <TextField
      label="How you know"
      value={value.comment}
      onChange={(comment) => onChange({ ...value, comment })}
      lines={3}
    />
  </>
);
