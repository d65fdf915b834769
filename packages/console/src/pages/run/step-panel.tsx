import type { RunDetail } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { RotateCcw, Stamp, X } from 'lucide-react';
import { useState } from 'react';
import { invocationQuery } from '../../api/invocations.js';
import { useMay } from '../../api/me.js';
import { isOver, useRunActions } from '../../api/runs.js';
import { Status, toneOf } from '../../ui/badge.js';
import { Button, ButtonLink } from '../../ui/button.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Facts } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';
import type { Group } from './plan-steps.js';

type Props = { run: RunDetail; group: Group; onClose(): void };

const MAX_ELEMENTS = 200;

/** The inputs and the result of a step. */
export function StepPanel({ run, group, onClose }: Props) {
  const [element, setElement] = useState(0);
  const step = group.steps[Math.min(element, group.steps.length - 1)];
  const { data: call } = useQuery({
    ...invocationQuery(step?.invocation_id ?? ''),
    enabled: typeof step?.invocation_id === 'string',
  });
  const { replay } = useRunActions();
  const say = useToast();
  const navigate = useNavigate();
  const may = useMay('submit', 'operate');
  const again = async () => {
    try {
      const { run_id, reused_steps } = await replay(run.run_id, { from: group.step_id });
      say('A new run continues from here', `${reused_steps ?? 0} steps keep their results.`);
      await navigate({ to: '/runs/$id', params: { id: run_id } });
    } catch (error) {
      say.problem('It cannot be replayed from here', error);
    }
  };
  const shown = call && call.invocation_id === step?.invocation_id ? call : undefined;
  return (
    <aside className="step-panel" aria-label={`Step ${group.title}`}>
      <div className="step-panel-head">
        <Status of={step?.status ?? group.status} plain />
        <h2 className="grow truncate">
          <SafeText text={group.title} />
        </h2>
        <Button kind="ghost" size="small" icon={<X />} aria-label="Close" onClick={onClose} />
      </div>
      <div className="step-panel-body" tabIndex={0} role="region" aria-label="Inputs and outputs">
        {group.steps.length > 1 ? (
          <div className="elements">
            {group.steps.slice(0, MAX_ELEMENTS).map((each, place) => (
              <button
                key={each.element}
                type="button"
                className={`tone-${toneOf(each.status)}`}
                aria-pressed={each === step}
                aria-label={`Element ${each.element}, ${each.status}`}
                onClick={() => setElement(place)}
              >
                {each.element}
              </button>
            ))}
            {group.steps.length > MAX_ELEMENTS ? (
              <Link to="/invocations" search={{ run_id: run.run_id }}>
                and {(group.steps.length - MAX_ELEMENTS).toLocaleString()} more
              </Link>
            ) : null}
          </div>
        ) : null}
        <Facts
          of={[
            [
              'Tool',
              <Link key="tool" to="/tools/$id" params={{ id: group.tool_id }}>
                <SafeText text={group.tool_id} />
              </Link>,
            ],
            ['Call', step?.invocation_id && <Id key="call" of={step.invocation_id} />],
            [
              'Reason',
              step?.reason && step.reason !== shown?.decision.reason && <SafeText key="reason" text={step.reason} />,
            ],
            [
              'Decision',
              shown && <SafeText key="decision" text={`${shown.decision.effect}: ${shown.decision.reason}`} />,
            ],
            ['Approved by', shown?.hold?.approvals.given_by.join(', ')],
            ['Took', !step?.reused_from && shown?.result && duration(shown.result.duration_ms)],
            ['Reused from', step?.reused_from && <Id key="reused" of={step.reused_from} />],
          ]}
        />
        {step?.status === 'held' && shown?.hold_id ? (
          <ButtonLink kind="primary" icon={<Stamp />} to="/approvals/$id" params={{ id: shown.hold_id }}>
            Decide
          </ButtonLink>
        ) : null}
        {shown ? (
          <>
            <h3>Inputs</h3>
            <JsonView label="Inputs" value={shown.inputs} depth={3} />
            {shown.result ? (
              <>
                <h3>Output</h3>
                {shown.result.error ? (
                  <div className="problem">
                    <SafeText text={shown.result.error} line={false} />
                  </div>
                ) : null}
                <JsonView label="Output" value={shown.result.payload} depth={3} />
              </>
            ) : null}
          </>
        ) : null}
        {run.kind === 'plan' ? (
          <Button
            icon={<RotateCcw />}
            may={isOver(run.status) ? may : { ok: false, why: 'Wait until the run has ended.' }}
            onClick={() => void again()}
          >
            Replay from here
          </Button>
        ) : null}
      </div>
    </aside>
  );
}
