import type { InvocationDetail } from '@capstan/contracts';
import { Link } from '@tanstack/react-router';
import { Tag } from '../../ui/badge.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Facts, Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, Time } from '../../ui/time.js';

export function InvocationFacts({ call }: { call: InvocationDetail }) {
  const { result, labels } = call;
  const facts = result?.facts;
  return (
    <div className="stack">
      <Panel title="Call">
        <Facts
          of={[
            [
              'Tool',
              <Link key="tool" to="/tools/$id" params={{ id: call.tool_id }}>
                <SafeText text={call.tool_id} />
              </Link>,
            ],
            ['Runner', call.runner],
            ['Run', <Id key="run" of={call.run_id} />],
            ['Session', call.session_id && <SafeText key="session" text={call.session_id} />],
            ['Mode', call.mode],
            ['Priority', String(call.priority)],
            ['Timeout', duration(call.timeout_ms)],
            ['Attempts', `${call.attempt} of ${call.max_attempts}`],
            ['Runs at', call.run_at && <Time key="at" at={call.run_at} />],
            ['Expires', call.expires_at && <Time key="expires" at={call.expires_at} />],
            ['Took', result && duration(result.duration_ms)],
            ['Replay of', call.replay_of && <Id key="replay" of={call.replay_of} />],
            [
              'Labels',
              Object.keys(labels).length > 0 && (
                <span key="labels" className="row wrap">
                  {Object.entries(labels).map(([name, value]) => (
                    <Link key={name} to="/invocations" search={{ label: `${name}:${value}` }}>
                      <Tag>
                        <SafeText text={`${name}: ${value}`} />
                      </Tag>
                    </Link>
                  ))}
                </span>
              ),
            ],
          ]}
        />
      </Panel>
      <Panel title="Hashes">
        <Facts
          of={[
            ['Inputs', <Id key="inputs" of={call.input_hash} link={false} />],
            ['Tool', <Id key="tool" of={call.descriptor_hash} link={false} />],
            ['Policy', <Id key="policy" of={call.policy_hash} link={false} />],
            ['Output', result && <Id key="output" of={result.output_hash} link={false} />],
            ['Log leaf', result?.chain_hash && <Id key="leaf" of={result.chain_hash} link={false} />],
          ]}
        />
      </Panel>
      {facts ? (
        <Panel title="Observed effects">
          <Facts
            of={[
              ['Sandbox', facts.sandbox],
              ['Read', facts.observed?.files_read?.join(', ')],
              ['Wrote', facts.observed?.files_written?.join(', ')],
              ['Contacted', facts.observed?.domains?.join(', ')],
              ['Processes', facts.observed?.processes],
              ['Cost', facts.cost_units],
              ['Declared', result?.declared_side_effects.join(', ')],
            ]}
          />
        </Panel>
      ) : null}
    </div>
  );
}

/** The decision, the rules behind it, and the limits of the call. */
export function DecisionFacts({ call: { decision, hold } }: { call: InvocationDetail }) {
  const { effect, reason, rule_matched, rules = [], limits } = decision;
  return (
    <div className="stack">
      <Facts
        of={[
          [
            'Effect',
            <Tag key="effect" tone={effect === 'allow' ? 'green' : effect === 'hold' ? 'amber' : 'red'}>
              {effect}
            </Tag>,
          ],
          ['Reason', <SafeText key="reason" text={reason} />],
          [
            'Rule',
            rule_matched && (
              <code key="rule">
                <SafeText text={rule_matched} />
              </code>
            ),
          ],
          ['Decided by', decision.decided_by],
          ['Hold', hold && <Id key="hold" of={hold.hold_id} />],
          ['Approved by', hold?.approvals.given_by.join(', ')],
        ]}
      />
      {rules.length > 0 ? (
        <div>
          {rules.map(({ id, why }) => (
            <div key={id} className="rule">
              <code>
                <SafeText text={id} />
              </code>
              <span className="muted">
                <SafeText text={why} />
              </span>
            </div>
          ))}
        </div>
      ) : null}
      <h3>Limits</h3>
      <JsonView label="Limits" value={limits} />
    </div>
  );
}
