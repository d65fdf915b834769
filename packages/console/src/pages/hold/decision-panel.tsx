import type { Hold, JsonObject } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import { Check, CircleSlash, FileCode2, FilePlus2, Info, Pencil, Repeat, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useMay, useMe } from '../../api/me.js';
import { useKeys } from '../../app/keys.js';
import { Avatar } from '../../app/me-menu.js';
import { Status } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { changesOf } from '../../ui/diff.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { ApproveDialog, RejectDialog } from '../approvals/decide-dialogs.js';
import { mayOf } from '../approvals/inbox-columns.js';
import { GrantDialog } from './grant-dialog.js';
import { ProposeDialog } from './propose-dialog.js';
import { WithdrawDialog } from './withdraw-dialog.js';

type Props = { hold: Hold; draft: JsonObject | null; editing: boolean; onEdit(on: boolean): void };
type Asking = 'approve' | 'reject' | 'grant' | 'propose' | 'withdraw';

/** Who must approve, who has, and the actions available now. */
export function DecisionPanel({ hold, draft, editing, onEdit }: Props) {
  const me = useMe();
  const navigate = useNavigate();
  const operate = useMay('operate');
  const [asking, setAsking] = useState<Asking | null>(null);
  const is_pending = hold.status === 'pending';
  const asks = hold.question !== null;
  const may = mayOf(hold);
  const changed = draft !== null && changesOf(hold.inputs, draft).length > 0;
  const ask = (what: Asking) => may.may.ok !== false && setAsking(what);
  useKeys(is_pending ? { ...(asks ? {} : { a: () => ask('approve') }), r: () => ask('reject') } : {});
  const close = () => setAsking(null);
  const done = () => onEdit(false);

  return (
    <aside className="decision" aria-label="Decision">
      <Panel title="Decision">
        <div className="stack">
          {asks && is_pending ? <p>The call continues when its questions are answered.</p> : <Quorum hold={hold} />}
          {is_pending ? (
            <>
              {!hold.can_decide.ok || hold.can_decide.why ? (
                <div className={`note tone-${hold.can_decide.ok ? 'blue' : 'amber'}`} role="note">
                  <Info />
                  <span>
                    {hold.can_decide.ok ? 'You can decide: ' : 'You cannot decide: '}
                    <SafeText text={hold.can_decide.why ?? 'policy names others.'} />
                  </span>
                </div>
              ) : null}
              <div className="decision-buttons">
                {asks ? null : (
                  <Button
                    kind="primary"
                    size="large"
                    icon={<Check />}
                    keys="a"
                    {...may}
                    onClick={() => setAsking('approve')}
                  >
                    {changed ? 'Approve with changes' : 'Approve'}
                  </Button>
                )}
                {editing || asks ? null : (
                  <Button size="large" icon={<Pencil />} keys="e" {...may} onClick={() => onEdit(true)}>
                    Edit and approve
                  </Button>
                )}
                <Button
                  kind="danger"
                  size="large"
                  icon={<CircleSlash />}
                  keys="r"
                  {...may}
                  onClick={() => setAsking('reject')}
                >
                  Reject
                </Button>
              </div>
              <div className="decision-more">
                {asks ? null : (
                  <>
                    <Button
                      kind="ghost"
                      size="small"
                      icon={<Repeat />}
                      may={operate}
                      onClick={() => setAsking('grant')}
                    >
                      Approve the next calls too
                    </Button>
                    <Button
                      kind="ghost"
                      size="small"
                      icon={<FilePlus2 />}
                      {...may}
                      onClick={() => setAsking('propose')}
                    >
                      Approve and propose a rule
                    </Button>
                  </>
                )}
                {me?.actor === hold.actor ? (
                  <Button kind="ghost" size="small" icon={<Undo2 />} onClick={() => setAsking('withdraw')}>
                    Withdraw my call
                  </Button>
                ) : null}
              </div>
            </>
          ) : (
            <>
              <div className="row wrap">
                <Status of={hold.status} />
                {hold.decided_by ? (
                  <span>
                    by <SafeText text={hold.decided_by} />
                  </span>
                ) : null}
                {hold.decided_at ? (
                  <span className="muted">
                    <Time at={hold.decided_at} />
                  </span>
                ) : null}
              </div>
              <Button
                onClick={() => void navigate({ to: '/invocations/$id', params: { id: hold.invocation_id } })}
                icon={<FileCode2 />}
              >
                Open the call
              </Button>
            </>
          )}
        </div>
      </Panel>
      {asking === 'approve' ? (
        <ApproveDialog hold={hold} inputs={changed && draft ? draft : undefined} onClose={close} onDone={done} />
      ) : null}
      {asking === 'reject' ? <RejectDialog hold={hold} onClose={close} onDone={done} /> : null}
      {asking === 'grant' ? <GrantDialog hold={hold} onClose={close} /> : null}
      {asking === 'propose' ? <ProposeDialog hold={hold} onClose={close} /> : null}
      {asking === 'withdraw' ? <WithdrawDialog hold={hold} onClose={close} /> : null}
    </aside>
  );
}

function Quorum({ hold: { approvals } }: { hold: Hold }) {
  const { required, given, given_by, roles, actors } = approvals;
  const who = actors ? actors.join(', ') : `anyone with the role ${(roles ?? ['operate']).join(' and ')}`;
  return (
    <div className="quorum">
      <div className="row between">
        <span>
          <strong className="num">
            {given} of {required}
          </strong>{' '}
          approved
        </span>
        <span className="row">
          {given_by.map((name) => (
            <Avatar key={name} name={name} />
          ))}
        </span>
      </div>
      <div className="quorum-bar" aria-hidden="true">
        {Array.from({ length: Math.min(required, 12) }, (_, place) => `vote ${place}`).map((key, place) => (
          <span key={key} className={place < given ? 'given' : ''} />
        ))}
      </div>
      {given_by.length > 0 ? (
        <p className="muted">
          Approved by <SafeText text={given_by.join(', ')} />
        </p>
      ) : null}
      <p className="muted">
        <SafeText text={`May decide: ${who}${approvals.allow_self ? '' : ', except the submitter'}.`} />
      </p>
    </div>
  );
}
