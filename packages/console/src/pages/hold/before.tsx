import type { Hold, Invocation, Page as PageOf, Run, Step } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/request.js';
import { Intent } from '../../domain/intent.js';
import { Status } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, Time } from '../../ui/time.js';

const AROUND = 8;

/** Where the call comes from: its run, or else its session, with what was done before. */
export const Before = ({ hold }: { hold: Hold }) => (
  <>
    <BeforeInRun hold={hold} />
    {hold.session_id ? <BeforeInSession hold={hold} session_id={hold.session_id} /> : null}
  </>
);

function BeforeInRun({ hold }: { hold: Hold }) {
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

/** The earlier calls of the session, latest first. */
function BeforeInSession({ hold, session_id }: { hold: Hold; session_id: string }) {
  const { data } = useQuery({
    queryKey: ['session-calls', session_id, hold.hold_id],
    queryFn: () =>
      get<PageOf<Invocation>>('/v1/invocations', { session_id, until: hold.created_at, limit: AROUND + 1 }),
  });
  const calls = (data?.items ?? []).filter(({ invocation_id }) => invocation_id !== hold.invocation_id);
  if (!data) return null;
  return (
    <Panel
      title="Earlier in the session"
      sub={<SafeText text={session_id} />}
      actions={
        <Link to="/invocations" search={{ session_id }}>
          All
        </Link>
      }
      flush
    >
      {calls.length === 0 ? (
        <EmptyState tight title="This is the first call of the session" />
      ) : (
        <div className="mini-table">
          {calls.slice(0, AROUND).map(({ invocation_id, status, tool_id, inputs, result, created_at }) => (
            <Link key={invocation_id} to="/invocations/$id" params={{ id: invocation_id }} className="mini-row">
              <Status of={status} plain />
              <span className="grow truncate">
                <Intent tool_id={tool_id} inputs={inputs} />{' '}
                <span className="muted">
                  <SafeText text={result?.error ?? ''} />
                </span>
              </span>
              <span className="muted">
                <Time at={created_at} />
              </span>
            </Link>
          ))}
        </div>
      )}
    </Panel>
  );
}
