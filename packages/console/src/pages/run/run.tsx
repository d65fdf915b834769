import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ChartGantt, Table2, Workflow } from 'lucide-react';
import { lazy, Suspense, useMemo } from 'react';
import { isOver, runQuery, stepsQuery, useRunStream } from '../../api/runs.js';
import { useSearchState } from '../../app/search.js';
import { Status, Tag } from '../../ui/badge.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { Page } from '../../ui/page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Segmented } from '../../ui/tabs.js';
import { duration, Time, useNow } from '../../ui/time.js';
import { runTitle } from '../runs/run-columns.js';
import { StepBar } from '../runs/step-bar.js';
import { WaitsForPerson } from '../runs/waits-for-person.js';
import { groupsOf } from './plan-steps.js';
import { RunActions } from './run-actions.js';
import { StepPanel } from './step-panel.js';
import { StepTable } from './step-table.js';
import { Timeline } from './timeline.js';
import { Verdict } from './verdict.js';
import './run.css';

const Graph = lazy(async () => ({ default: (await import('./graph.js')).Graph }));
type View = 'graph' | 'timeline' | 'table';

export function RunPage() {
  const { id = '' } = useParams({ strict: false });
  const [search, change] = useSearchState();
  const { data: run, error, refetch } = useQuery(runQuery(id));
  const { data: steps } = useQuery(stepsQuery(id));
  useRunStream(id, run === undefined || isOver(run.status));
  const groups = useMemo(() => (run && steps ? groupsOf(run, steps) : []), [run, steps]);
  const now = useNow();
  if (!run)
    return (
      <Page title="Run" crumb={<Link to="/runs">Runs</Link>}>
        {error ? <ErrorState error={error} retry={() => void refetch()} /> : <Loading lines={10} />}
      </Page>
    );
  const view = (search.view ?? (run.kind === 'plan' ? 'graph' : 'table')) as View;
  const group = groups.find(({ step_id }) => step_id === search.step);
  const select = (step: string | undefined) => step !== search.step && change({ step });
  return (
    <Page
      title={runTitle(run)}
      crumb={<Link to="/runs">Runs</Link>}
      heading={<SafeText text={runTitle(run)} />}
      beside={
        <>
          <Status of={run.status} />
          <WaitsForPerson run={run} />
          {run.mode === 'replay' ? <Tag>replay</Tag> : null}
          <Verdict run={run} />
        </>
      }
      sub={
        <span className="row wrap">
          <Id of={run.run_id} link={false} />
          <span>
            by <SafeText text={run.actor} /> <Time at={run.created_at} />
          </span>
          <span className="num">
            {duration((run.finished_at ? Date.parse(run.finished_at) : now) - Date.parse(run.created_at))}
          </span>
          <span className="run-steps">
            <StepBar run={run} />
          </span>
          {run.replay_of ? (
            <span>
              replay of <Id of={run.replay_of} />
            </span>
          ) : null}
        </span>
      }
      actions={
        <>
          <Segmented<View>
            label="View"
            value={view}
            onChange={(name) => change({ view: name })}
            options={[
              {
                name: 'graph',
                label: (
                  <>
                    <Workflow /> Graph
                  </>
                ),
              },
              {
                name: 'timeline',
                label: (
                  <>
                    <ChartGantt /> Timeline
                  </>
                ),
              },
              {
                name: 'table',
                label: (
                  <>
                    <Table2 /> Table
                  </>
                ),
              },
            ]}
          />
          <RunActions run={run} />
        </>
      }
      flush
    >
      {run.reason ? (
        <div className="run-reason" role="status">
          <SafeText text={run.reason} />
        </div>
      ) : null}
      <div className="run-split">
        <div className="run-view">
          {!steps ? (
            <div className="page-body">
              <Loading lines={8} />
            </div>
          ) : view === 'graph' ? (
            <Suspense fallback={<Loading lines={8} />}>
              <Graph groups={groups} selected={search.step} onSelect={select} />
            </Suspense>
          ) : view === 'timeline' ? (
            <Timeline run={run} groups={groups} selected={search.step} onSelect={select} />
          ) : (
            <StepTable steps={steps} selected={search.step} onSelect={select} />
          )}
        </div>
        {group ? <StepPanel run={run} group={group} onClose={() => select(undefined)} /> : null}
      </div>
    </Page>
  );
}
