import type { Hold } from '@capstan/contracts';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import { useToast } from '../../ui/toast.js';

export function WithdrawDialog({ hold, onClose }: { hold: Hold; onClose(): void }) {
  const { withdraw } = useHoldActions();
  const say = useToast();
  const [comment, setComment] = useState('');
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async () => {
    try {
      await withdraw(hold.hold_id, comment.trim() || undefined);
      say('Withdrawn');
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Dialog
      title="Withdraw your call"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger filled" submit>
            Withdraw
          </Button>
        </>
      }
    >
      <p>The call will not run, and no longer needs a decision.</p>
      <TextField label="Comment (optional)" value={comment} onChange={setComment} lines={2} />
      <ProblemNote error={problem} />
    </Dialog>
  );
}
