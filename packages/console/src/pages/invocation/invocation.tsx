import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { hasEnded, invocationQuery } from '../../api/invocations.js';
import { useSearchState } from '../../app/search.js';
import { Intent } from '../../domain/intent.js';
import { Status } from '../../ui/badge.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Tabs } from '../../ui/tabs.js';
import { Time } from '../../ui/time.js';
import { Artifacts } from './artifacts.js';
import { Attempts } from './attempts.js';
import { DecisionFacts, InvocationFacts } from './facts.js';
import { InvocationActions } from './invocation-actions.js';
import { LifeLine } from './life-line.js';
import { LiveLog } from './live-log.js';
import './invocation.css';

type View = 'result' | 'log' | 'decision' | 'attempts';

export function InvocationPage() {
  const { id = '' } = useParams({ strict: false });
  const [search, change] = useSearchState();
  const { data: call, error, refetch } = useQuery(invocationQuery(id));
  if (!call)
    return (
      <Page title="Invocation" crumb={<Link to="/invocations">Invocations</Link>}>
        {error ? <ErrorState error={error} retry={() => void refetch()} /> : <Loading lines={10} />}
      </Page>
    );
  const { result } = call;
  const view = (search.view ?? 'result') as View;
  return (
    <Page
      title={call.tool_id}
      crumb={<Link to="/invocations">Invocations</Link>}
      heading={<Intent tool_id={call.tool_id} inputs={call.inputs} />}
      sub={
        <span className="row wrap">
          <Status of={call.status} />
          <Id of={call.invocation_id} />
          <span>
            by <SafeText text={call.actor} /> <Time at={call.created_at} />
          </span>
        </span>
      }
      actions={<InvocationActions call={call} />}
    >
      <div className="stack wide sections">
        <LifeLine call={call} />
        {result?.error ? (
          <div className="problem" role="status">
            <strong>
              <SafeText text={result.error} line={false} />
            </strong>
            {result.exit_code === null ? null : <span>Exit code {result.exit_code}</span>}
          </div>
        ) : null}
        {call.waiting ? (
          <div className="note tone-amber" role="status">
            <span>
              Not started: <SafeText text={call.waiting.detail} />.{' '}
              {/* The suggestion for a held call names commands; here there is a button. */}
              {call.status === 'held' ? null : <SafeText text={call.waiting.suggestion} />}
            </span>
          </div>
        ) : null}
        {call.status === 'ambiguous' ? (
          <div className="note tone-purple" role="status">
            <span>
              Its worker was lost while the tool ran, so the outcome is unknown. Find out whether it took effect, then
              resolve it.
            </span>
          </div>
        ) : null}
        <div className="columns">
          <div className="stack sections">
            <Panel title="Inputs" sub={<Id of={call.input_hash} link={false} />}>
              <JsonView label="Inputs" value={call.inputs} depth={3} />
            </Panel>
            <Tabs<View>
              label="About the call"
              value={view}
              onChange={(name) => change({ view: name === 'result' ? undefined : name })}
              tabs={[
                {
                  name: 'result',
                  label: 'Result',
                  content: () =>
                    result ? (
                      <div className="stack">
                        {result.removed_at ? (
                          <p className="muted">Retention has removed the output; its hash remains.</p>
                        ) : result.error && result.payload === null ? (
                          <p className="muted">The call has no output.</p>
                        ) : (
                          <JsonView label="Output" value={result.payload} depth={3} />
                        )}
                        {result.truncated ? <p className="muted">The output was truncated at its limit.</p> : null}
                        <Artifacts of={result.artifacts} />
                      </div>
                    ) : (
                      <EmptyState tight title={hasEnded(call.status) ? 'There is no result' : 'There is no result yet'}>
                        {hasEnded(call.status) ? null : <p>It appears here when the call ends.</p>}
                      </EmptyState>
                    ),
                },
                { name: 'log', label: 'Log', content: () => <LiveLog id={call.invocation_id} /> },
                {
                  name: 'decision',
                  label: 'Decision',
                  content: () => <DecisionFacts call={call} />,
                },
                {
                  name: 'attempts',
                  label: `Attempts (${call.attempts.length})`,
                  content: () => <Attempts of={call.attempts} max={call.max_attempts} />,
                },
              ]}
            />
          </div>
          <InvocationFacts call={call} />
        </div>
      </div>
    </Page>
  );
}
