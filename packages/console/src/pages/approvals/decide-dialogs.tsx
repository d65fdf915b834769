import type { HoldItem, JsonObject } from '@capstan/contracts';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { Intent } from '../../domain/intent.js';
import { RiskBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Diff } from '../../ui/diff.js';
import { ProblemNote } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import { JsonView } from '../../ui/json-view.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';

type Props = { hold: HoldItem; onClose(): void; onDone?(): void };

/** Shows what would run before it is approved. With `inputs`, shows the edited call. */
export function ApproveDialog({ hold, inputs, onClose, onDone }: Props & { inputs?: JsonObject | undefined }) {
  const { release } = useHoldActions();
  const say = useToast();
  const [comment, setComment] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const { given, required } = hold.approvals;
  const left = required - given - 1;
  const submit = async () => {
    if (busy) return;
    setBusy(true);
    try {
      const after = await release(hold.hold_id, {
        input_hash: hold.input_hash,
        ...(inputs ? { inputs } : {}),
        ...(comment.trim() ? { comment } : {}),
      });
      say(
        after.status === 'released' ? 'Approved: the call runs now' : 'Your approval is recorded',
        after.status === 'released'
          ? undefined
          : `${after.approvals.given} of ${after.approvals.required} have approved.`,
      );
      onClose();
      onDone?.();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={inputs ? 'Approve with changes' : 'Approve this call'}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submit busy={busy} keys="↵" data-first>
            Approve
          </Button>
        </>
      }
    >
      <Call hold={hold} />
      {inputs ? (
        <Diff before={hold.inputs ?? {}} after={inputs} />
      ) : hold.inputs ? (
        <JsonView label="Inputs" value={hold.inputs} />
      ) : null}
      <p className="muted">
        {left > 0
          ? `${left} more ${left === 1 ? 'person has' : 'people have'} to approve before it runs.`
          : 'It runs as soon as you approve.'}
      </p>
      <TextField label="Comment (optional)" value={comment} onChange={setComment} lines={2} />
      <ProblemNote error={problem} />
    </Dialog>
  );
}

/** The reason is shown to the submitter of the call, which may be a model. */
export function RejectDialog({ hold, onClose, onDone }: Props) {
  const { reject } = useHoldActions();
  const say = useToast();
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async () => {
    if (busy || reason.trim() === '') return;
    setBusy(true);
    try {
      await reject(hold.hold_id, reason);
      say('Rejected');
      onClose();
      onDone?.();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Reject this call"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="danger filled"
            submit
            busy={busy}
            may={reason.trim() ? { ok: true, why: null } : { ok: false, why: 'Give a reason first.' }}
          >
            Reject
          </Button>
        </>
      }
    >
      <Call hold={hold} />
      <TextField
        label="Reason"
        hint="The submitter, which may be a model, sees this reason: say what to do instead."
        value={reason}
        onChange={setReason}
        lines={3}
        autoFocus
      />
      <ProblemNote error={problem} />
    </Dialog>
  );
}

const Call = ({ hold }: { hold: HoldItem }) => (
  <div className="stack tight">
    <div>
      <Intent tool_id={hold.tool_id} inputs={hold.inputs} />
    </div>
    <div className="row wrap muted">
      <RiskBadge risk={hold.risk} />
      <SafeText text={hold.reason} />
    </div>
  </div>
);
