import type { Invocation } from '@capstan/contracts';
import { Intent } from '../../domain/intent.js';
import { Status } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { Id } from '../../ui/id.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, Time } from '../../ui/time.js';

const status: Column<Invocation> = {
  id: 'status',
  header: 'Status',
  width: '104px',
  cell: ({ status: of }) => <Status of={of} plain />,
};

export const invocationColumns = (narrow: boolean): Column<Invocation>[] =>
  narrow
    ? [
        {
          id: 'call',
          header: 'Call',
          width: 'minmax(0, 1fr)',
          cell: (row) => (
            <div className="stack tight">
              <div className="row">
                <Status of={row.status} plain />
                <span className="muted push">
                  <Time at={row.created_at} />
                </span>
              </div>
              <div className="truncate">
                <Intent tool_id={row.tool_id} inputs={row.inputs} />
              </div>
            </div>
          ),
        },
      ]
    : [
        status,
        { id: 'id', header: 'Id', width: '128px', cell: ({ invocation_id }) => <Id of={invocation_id} /> },
        {
          id: 'call',
          header: 'Call',
          width: 'minmax(0, 1fr)',
          cell: (row) => (
            <>
              <Intent tool_id={row.tool_id} inputs={row.inputs} />
              {row.result?.error ? (
                <span className="call-error">
                  <SafeText text={row.result.error} />
                </span>
              ) : null}
            </>
          ),
        },
        {
          id: 'runner',
          header: 'Runner',
          width: '64px',
          cell: ({ runner }) => <span className="muted">{runner}</span>,
        },
        { id: 'actor', header: 'Actor', width: '110px', cell: ({ actor }) => <SafeText text={actor} /> },
        {
          id: 'took',
          header: 'Took',
          width: '64px',
          numeric: true,
          cell: ({ result }) => (result ? duration(result.duration_ms) : ''),
        },
        {
          id: 'created',
          header: 'Created',
          width: '76px',
          numeric: true,
          cell: ({ created_at }) => <Time at={created_at} />,
        },
      ];
