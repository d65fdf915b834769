import type { Run } from '@capstan/contracts';
import { Status, Tag } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { Id } from '../../ui/id.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, Time } from '../../ui/time.js';
import { StepBar } from './step-bar.js';
import { WaitsForPerson } from './waits-for-person.js';

type Options = { narrow: boolean; chosen: readonly string[]; choose(id: string): void };

export const runTitle = ({ name, kind, total_steps }: Run): string =>
  name ?? (kind === 'bulk' ? `Bulk of ${total_steps.toLocaleString()}` : kind === 'lone' ? 'Lone call' : 'Plan');

export const runColumns = ({ narrow, chosen, choose }: Options): Column<Run>[] =>
  narrow
    ? [
        {
          id: 'run',
          header: 'Run',
          width: 'minmax(0, 1fr)',
          cell: (run) => (
            <div className="stack tight">
              <div className="row">
                <Status of={run.status} plain />
                <strong className="truncate">
                  <SafeText text={runTitle(run)} />
                </strong>
                <WaitsForPerson run={run} />
                <span className="muted push">
                  <Time at={run.created_at} />
                </span>
              </div>
              <StepBar run={run} />
            </div>
          ),
        },
      ]
    : [
        {
          id: 'choose',
          header: <span className="sr-only">Compare</span>,
          width: '18px',
          cell: (run) => (
            <input
              type="checkbox"
              className="box"
              aria-label={`Compare ${runTitle(run)}`}
              checked={chosen.includes(run.run_id)}
              onChange={() => choose(run.run_id)}
            />
          ),
        },
        { id: 'status', header: 'Status', width: '100px', cell: ({ status }) => <Status of={status} plain /> },
        {
          id: 'name',
          header: 'Name',
          width: 'minmax(0, 1fr)',
          cell: (run) => (
            <span className="row">
              <strong className="truncate">
                <SafeText text={runTitle(run)} />
              </strong>
              <WaitsForPerson run={run} />
              {run.mode === 'replay' ? <Tag>replay</Tag> : null}
              {run.reason ? (
                <span className="muted truncate">
                  <SafeText text={run.reason} />
                </span>
              ) : null}
            </span>
          ),
        },
        { id: 'id', header: 'Id', width: '130px', cell: ({ run_id }) => <Id of={run_id} /> },
        { id: 'steps', header: 'Steps', width: '190px', cell: (run) => <StepBar run={run} /> },
        { id: 'actor', header: 'Actor', width: '110px', cell: ({ actor }) => <SafeText text={actor} /> },
        {
          id: 'took',
          header: 'Took',
          width: '72px',
          numeric: true,
          cell: ({ created_at, finished_at }) =>
            finished_at ? duration(Date.parse(finished_at) - Date.parse(created_at)) : '',
        },
        {
          id: 'created',
          header: 'Started',
          width: '80px',
          numeric: true,
          cell: ({ created_at }) => <Time at={created_at} />,
        },
      ];
