import type { Hold } from '@capstan/contracts';
import { HOUR_MS } from '@capstan/contracts/time';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { CheckField, SelectField, TextField } from '../../ui/field.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';

const SPANS = [
  [String(HOUR_MS), 'One hour'],
  [String(24 * HOUR_MS), 'One day'],
  [String(7 * 24 * HOUR_MS), 'One week'],
] as const;

/** Gives a vote in advance, for a number of calls and a period. */
export function GrantDialog({ hold, onClose }: { hold: Hold; onClose(): void }) {
  const { grant } = useHoldActions();
  const say = useToast();
  const [count, setCount] = useState('5');
  const [span, setSpan] = useState<string>(SPANS[1][0]);
  const [exact, setExact] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async () => {
    try {
      await grant({
        kind: 'tool',
        tool_id: hold.tool_id,
        count: Number(count),
        expires_in_ms: Number(span),
        ...(exact ? { input_hash: hold.input_hash } : {}),
        ...(hold.risk ? { max_risk: hold.risk } : {}),
      });
      say(`The next ${count} calls have your approval`, 'If this call is still waiting, it is one of them.');
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Dialog
      title="Approve the next calls"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submit>
            Approve the next {count}
          </Button>
        </>
      }
    >
      <p>
        Gives your approval in advance to calls of <SafeText text={hold.tool_id} />. Other people’s approvals are still
        needed where policy asks for them. You can revoke it under Policy, Grants.
      </p>
      <TextField label="How many calls" type="number" value={count} onChange={setCount} />
      <SelectField label="For how long" value={span} onChange={setSpan} options={SPANS} />
      <CheckField label="Only for exactly these inputs" value={exact} onChange={setExact} />
      <ProblemNote error={problem} />
    </Dialog>
  );
}
