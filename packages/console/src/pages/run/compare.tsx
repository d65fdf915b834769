import { pairSteps } from '@capstan/contracts/pair-steps';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { useMemo, useState } from 'react';
import { runQuery, stepsQuery } from '../../api/runs.js';
import { useSearchState } from '../../app/search.js';
import { Status, Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Diff } from '../../ui/diff.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { CheckField } from '../../ui/field.js';
import { Id } from '../../ui/id.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';

/** Compares the results of two runs, step by step. */
export function Compare() {
  const [{ a = '', b = '' }, change] = useSearchState();
  const [all, setAll] = useState(false);
  const one = useQuery({ ...stepsQuery(a), enabled: a !== '' });
  const other = useQuery({ ...stepsQuery(b), enabled: b !== '' });
  const first = useQuery({ ...runQuery(a), enabled: a !== '' }).data;
  const second = useQuery({ ...runQuery(b), enabled: b !== '' }).data;
  const pairs = useMemo(() => pairSteps(one.data ?? [], other.data ?? []), [one.data, other.data]);
  const shown = all ? pairs : pairs.filter(({ same }) => !same);
  const error = one.error ?? other.error;
  return (
    <Page
      title="Compare runs"
      crumb={<Link to="/runs">Runs</Link>}
      actions={
        <>
          <CheckField label="Show equal steps" value={all} onChange={setAll} />
          <Button icon={<ArrowLeftRight />} onClick={() => change({ a: b, b: a })}>
            Swap
          </Button>
        </>
      }
    >
      {a === '' || b === '' ? (
        <EmptyState title="Select two runs in the list of runs" />
      ) : error ? (
        <ErrorState error={error} />
      ) : !one.data || !other.data || !first || !second ? (
        <Loading />
      ) : (
        <div className="stack wide">
          <div className="grid-2">
            {[first, second].map((run, place) => (
              <Panel key={place === 0 ? 'first' : 'second'} title={place === 0 ? 'First' : 'Second'}>
                <div className="row wrap">
                  <Status of={run.status} />
                  <SafeText text={run.name ?? run.kind} />
                  <Id of={run.run_id} />
                  {run.finished_at ? (
                    <span className="muted num">
                      {duration(Date.parse(run.finished_at) - Date.parse(run.created_at))}
                    </span>
                  ) : null}
                </div>
              </Panel>
            ))}
          </div>
          {first.plan_hash !== second.plan_hash ? (
            <div className="note tone-amber">
              <span>They are runs of different plans; steps are compared by their names.</span>
            </div>
          ) : null}
          <p className="muted">
            {pairs.filter(({ same }) => !same).length} of {pairs.length} steps differ.
          </p>
          {shown.map(({ name, first: left, second: right, same }) => (
            <Panel
              key={name}
              title={name}
              actions={
                <>
                  {left ? <Status of={left.status} plain /> : <Tag>not in the first</Tag>}
                  <span aria-hidden="true">→</span>
                  {right ? <Status of={right.status} plain /> : <Tag>not in the second</Tag>}
                </>
              }
            >
              {same ? (
                <p className="muted">The output is the same.</p>
              ) : (
                <Diff before={left?.result?.payload ?? null} after={right?.result?.payload ?? null} />
              )}
            </Panel>
          ))}
        </div>
      )}
    </Page>
  );
}
