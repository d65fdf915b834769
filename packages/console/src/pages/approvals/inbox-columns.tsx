import type { HoldItem } from '@capstan/contracts';
import { Check, X } from 'lucide-react';
import { Intent } from '../../domain/intent.js';
import { RiskBadge, Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { Id } from '../../ui/id.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time, Until } from '../../ui/time.js';
import { Tip } from '../../ui/tip.js';

type Options = {
  narrow: boolean;
  selected: ReadonlySet<string>;
  toggle(id: string): void;
  ask(kind: 'approve' | 'reject', hold: HoldItem): void;
};

export function inboxColumns({ narrow, selected, toggle, ask }: Options): Column<HoldItem>[] {
  const select: Column<HoldItem> = {
    id: 'select',
    header: <span className="sr-only">Select</span>,
    width: '18px',
    cell: ({ hold_id, tool_id }) => (
      <input
        type="checkbox"
        className="box"
        aria-label={`Select ${tool_id}`}
        checked={selected.has(hold_id)}
        onChange={() => toggle(hold_id)}
      />
    ),
  };
  if (narrow)
    return [
      select,
      {
        id: 'hold',
        header: 'Call',
        width: 'minmax(0, 1fr)',
        cell: (hold) => (
          <div className="inbox-card">
            <div className="row">
              <RiskBadge risk={hold.risk} />
              <span className="muted truncate">
                <SafeText text={hold.actor} />
              </span>
              <span className="muted">
                <Time at={hold.created_at} />
              </span>
              <span className="push">
                <Until at={hold.expires_at} />
              </span>
            </div>
            <div className="inbox-intent">
              <Intent tool_id={hold.tool_id} inputs={hold.inputs} />
            </div>
            <div className="row">
              <Votes hold={hold} />
              <span className="inbox-why truncate">
                <SafeText text={hold.rule_matched ?? ''} />
              </span>
              <span className="row push inbox-actions">
                <Button size="small" kind="danger" icon={<X />} {...mayOf(hold)} onClick={() => ask('reject', hold)}>
                  Reject
                </Button>
                <Button
                  size="small"
                  kind="primary"
                  icon={<Check />}
                  {...mayApprove(hold)}
                  onClick={() => ask('approve', hold)}
                >
                  Approve
                </Button>
              </span>
            </div>
          </div>
        ),
      },
    ];
  return [
    select,
    {
      id: 'hold',
      header: 'Call',
      width: 'minmax(0, 3fr)',
      cell: (hold) => (
        <div className="inbox-call">
          <div className="truncate">
            <Intent tool_id={hold.tool_id} inputs={hold.inputs} />
          </div>
          <div className="inbox-why truncate">
            <SafeText text={hold.reason} />
          </div>
        </div>
      ),
    },
    { id: 'risk', header: 'Risk', width: '92px', cell: ({ risk }) => <RiskBadge risk={risk} /> },
    {
      id: 'rule',
      header: 'Rule',
      width: 'minmax(92px, 0.5fr)',
      cell: ({ rule_matched }) => (
        <span className="muted truncate">
          <SafeText text={rule_matched ?? ''} />
        </span>
      ),
    },
    {
      id: 'asked',
      header: 'Submitted by',
      width: 'minmax(196px, 0.7fr)',
      cell: ({ actor, run_id, step_id, created_at }) => (
        <div className="inbox-call">
          <div className="truncate">
            <SafeText text={actor} />
          </div>
          <div className="inbox-why truncate">
            <Time at={created_at} /> · <Id of={run_id} />
            {step_id ? <SafeText text={` ${step_id}`} /> : null}
          </div>
        </div>
      ),
    },
    { id: 'votes', header: 'Votes', width: '104px', cell: (hold) => <Votes hold={hold} /> },
    { id: 'expires', header: 'Expires', width: '62px', cell: ({ expires_at }) => <Until at={expires_at} /> },
  ];
}

export const mayOf = ({ can_decide }: Pick<HoldItem, 'can_decide'>) => ({ may: can_decide });

/** A question takes an answer, which the list has no room for. */
const mayApprove = (hold: HoldItem) =>
  hold.question === null ? mayOf(hold) : { may: { ok: false as const, why: 'It asks a question. Open it to answer.' } };

function Votes({ hold: { approvals, can_decide } }: { hold: HoldItem }) {
  const { given, required, given_by } = approvals;
  return (
    <span className="row inbox-votes">
      <Tip text={given_by.length > 0 ? `Approved by ${given_by.join(', ')}` : `Nobody of ${required} has approved yet`}>
        <span className="num">
          {given} of {required}
        </span>
      </Tip>
      {can_decide.ok === false ? (
        <Tip text={can_decide.why}>
          <span>
            <Tag>not you</Tag>
          </span>
        </Tip>
      ) : null}
    </span>
  );
}
