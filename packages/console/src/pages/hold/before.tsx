import type { Hold, Page as PageOf, Run, Step } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/request.js';
import { Status } from '../../ui/badge.js';
import { Id } from '../../ui/id.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';

const AROUND = 8;

/** The run that it came from, with the steps before. A call of its own has none. */
export function Before({ hold }: { hold: Hold }) {
  const path = `/v1/runs/${encodeURIComponent(hold.run_id)}`;
  const { data: run } = useQuery({ queryKey: ['run', hold.run_id], queryFn: () => get<Run>(path) });
  const { data: steps } = useQuery({
    queryKey: ['run', hold.run_id, 'steps', 'first'],
    queryFn: () => get<PageOf<Step>>(`${path}/steps`, { limit: 1000 }),
    enabled: run !== undefined && run.kind !== 'lone',
  });
  if (!run || run.kind === 'lone' || !steps) return null;
  const here = steps.items.findIndex(({ invocation_id }) => invocation_id === hold.invocation_id);
  const shown = steps.items.slice(Math.max(0, here - AROUND), here + 2);
  return (
    <Panel
      title="Where it comes from"
      sub={
        <>
          {run.kind === 'plan' ? 'plan ' : 'bulk '}
          <SafeText text={run.name ?? ''} /> <Id of={run.run_id} />
        </>
      }
      flush
    >
      <div className="mini-table">
        {shown.map((step) => (
          <div
            key={`${step.index} ${step.element}`}
            className={`mini-row ${step.invocation_id === hold.invocation_id ? 'here' : ''}`}
          >
            <Status of={step.status} plain />
            <strong>
              <SafeText text={step.step_id} />
            </strong>
            <span className="muted truncate grow">
              <SafeText text={step.tool_id} />
            </span>
            {step.result ? <span className="muted num">{duration(step.result.duration_ms)}</span> : null}
            {step.invocation_id && step.invocation_id !== hold.invocation_id ? (
              <Link to="/invocations/$id" params={{ id: step.invocation_id }}>
                Open
              </Link>
            ) : (
              <span className="muted">{step.invocation_id ? 'this call' : ''}</span>
            )}
          </div>
        ))}
      </div>
    </Panel>
  );
}
