import type { ReportStep } from '@capstan/contracts';

type Entry = NonNullable<ReportStep['hold']>['entries'][number];

/** Describes a vote or an edit. */
export function whatOf({ kind, input_hash, previous_input_hash, changed }: Entry): string | null {
  if (kind === 'edit') return `${changed?.join(', ')}: inputs ${previous_input_hash} → ${input_hash}`;
  return input_hash === null ? null : `for inputs ${input_hash}`;
}
