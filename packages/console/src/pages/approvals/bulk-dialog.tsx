import type { HoldItem } from '@capstan/contracts';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import { Id } from '../../ui/id.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';

export type Bulk = { decision: 'release' | 'reject'; holds: readonly HoldItem[] };
type Props = { bulk: Bulk; onClose(): void; onDone(): void };

/** Shows the count and the tools before a bulk decision, and each refused call after it. */
export function BulkDialog({ bulk: { decision, holds }, onClose, onDone }: Props) {
  const { decideMany } = useHoldActions();
  const say = useToast();
  const [comment, setComment] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [refused, setRefused] = useState<readonly { hold_id: string; why: string }[]>([]);
  const verb = decision === 'release' ? 'Approve' : 'Reject';
  const mine = holds.filter(({ can_decide }) => can_decide?.ok !== false);
  const tools = [...new Set(mine.map(({ tool_id }) => tool_id))];
  const needsReason = decision === 'reject' && comment.trim() === '';

  const submit = async () => {
    if (busy || needsReason || mine.length === 0) return;
    setBusy(true);
    try {
      const { decided, items } = await decideMany(mine, decision, comment.trim() || undefined);
      say(`${decision === 'release' ? 'Approved' : 'Rejected'} ${decided} of ${mine.length}`);
      const failed = items.filter(({ ok }) => !ok);
      if (failed.length === 0) onDone();
      else setRefused(failed.map(({ hold_id, problem: why }) => ({ hold_id, why: why?.detail ?? 'It was refused.' })));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };

  return (
    <Dialog
      title={`${verb} ${mine.length} ${mine.length === 1 ? 'call' : 'calls'}`}
      onClose={refused.length > 0 ? onDone : onClose}
      onSubmit={() => void submit()}
      footer={
        refused.length > 0 ? (
          <Button kind="primary" onClick={onDone}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              kind={decision === 'release' ? 'primary' : 'danger filled'}
              submit
              busy={busy}
              may={
                needsReason
                  ? { ok: false, why: 'Give a reason first.' }
                  : { ok: mine.length > 0, why: 'You cannot decide on any of them.' }
              }
            >
              {verb} {mine.length}
            </Button>
          </>
        )
      }
    >
      {refused.length > 0 ? (
        <ul className="stack tight">
          {refused.map(({ hold_id, why }) => (
            <li key={hold_id}>
              <Id of={hold_id} /> <SafeText text={why} />
            </li>
          ))}
        </ul>
      ) : (
        <>
          <p>
            {decision === 'release' ? 'Your approval is given to ' : 'You reject '}
            <strong>{mine.length}</strong> {mine.length === 1 ? 'call' : 'calls'} of{' '}
            {tools.length === 1 ? <SafeText text={tools[0] ?? ''} /> : `${tools.length} tools`}.
            {holds.length > mine.length
              ? ` ${holds.length - mine.length} others are not yours to decide and stay.`
              : ''}
          </p>
          <TextField
            label={decision === 'release' ? 'Comment (optional)' : 'Reason'}
            value={comment}
            onChange={setComment}
            lines={3}
            autoFocus={decision === 'reject'}
          />
          <ProblemNote error={problem} />
        </>
      )}
    </Dialog>
  );
}
