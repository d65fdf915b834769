import type { Step } from '@capstan/contracts';
import { useMemo } from 'react';
import { Status } from '../../ui/badge.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { useNarrow } from '../../ui/narrow.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';

type Props = { steps: readonly Step[]; selected: string | undefined; onSelect(step_id: string): void };

export function StepTable({ steps, selected, onSelect }: Props) {
  const narrow = useNarrow();
  const columns = useMemo(
    (): Column<Step>[] => [
      { id: 'status', header: 'Status', width: '104px', cell: ({ status }) => <Status of={status} plain /> },
      {
        id: 'step',
        header: 'Step',
        width: 'minmax(0, 1fr)',
        cell: ({ step_id, element, name }) => (
          <>
            <strong>
              <SafeText text={name ?? step_id} />
            </strong>
            {element === null ? null : <span className="muted"> [{element}]</span>}
          </>
        ),
      },
      {
        id: 'tool',
        header: 'Tool',
        width: 'minmax(0, 1fr)',
        wide: true,
        cell: ({ tool_id }) => <SafeText text={tool_id} />,
      },
      {
        id: 'reason',
        header: 'Outcome',
        width: 'minmax(0, 1.2fr)',
        wide: true,
        cell: ({ reason, result }) => (
          <span className="muted">
            <SafeText text={reason ?? (result ? (JSON.stringify(result.payload)?.slice(0, 200) ?? '') : '')} />
          </span>
        ),
      },
      {
        id: 'call',
        header: 'Call',
        width: '140px',
        wide: true,
        cell: ({ invocation_id }) => (invocation_id ? <Id of={invocation_id} /> : null),
      },
      {
        id: 'took',
        header: 'Took',
        width: '68px',
        numeric: true,
        cell: ({ duration_ms, reused_from }) =>
          reused_from ? 're-used' : duration_ms === null ? '' : duration(duration_ms),
      },
    ],
    [],
  );
  return (
    <DataTable
      label="Steps"
      rows={steps}
      columns={columns}
      idOf={({ index, element }) => `${index} ${element ?? ''}`}
      row_height={narrow ? 44 : 36}
      isSelected={({ step_id }) => step_id === selected}
      onOpen={({ step_id }) => onSelect(step_id)}
      empty={<EmptyState title="There are no steps yet" />}
    />
  );
}
