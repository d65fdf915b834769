import type { InvocationStatus } from '@capstan/contracts';
import { CircleX, ListChecks, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { canRedrive, hasEnded, type InvocationCounts, useInvocationActions } from '../../api/invocations.js';
import { useMay } from '../../api/me.js';
import type { Query } from '../../api/request.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { Menu } from '../../ui/menu.js';
import { useToast } from '../../ui/toast.js';

type Props = { filter: Query; counts: InvocationCounts | undefined; filtered: boolean };
type Action = 'cancel' | 'redrive';

/** The same for all that match; what it does and to how many is said before. */
export function BulkActions({ filter, counts, filtered }: Props) {
  const operate = useMay('operate');
  const [asking, setAsking] = useState<Action | null>(null);
  const may = !operate.ok ? operate : { ok: filtered, why: 'Filter the list first: this is done to all that match.' };
  return (
    <>
      <Menu
        trigger={
          <button type="button" className="button">
            <ListChecks />
            All that match
          </button>
        }
        items={[
          { label: 'Run failed ones again', icon: <RotateCcw />, may, onSelect: () => setAsking('redrive') },
          { label: 'Cancel unended ones', icon: <CircleX />, danger: true, may, onSelect: () => setAsking('cancel') },
        ]}
      />
      {asking ? <BulkDialog action={asking} filter={filter} counts={counts} onClose={() => setAsking(null)} /> : null}
    </>
  );
}

type DialogProps = { action: Action; filter: Query; counts: InvocationCounts | undefined; onClose(): void };

function BulkDialog({ action, filter, counts, onClose }: DialogProps) {
  const { cancelMany, redriveMany } = useInvocationActions();
  const say = useToast();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const reached = Object.entries(counts?.status ?? {}).filter(([status]) =>
    action === 'cancel' ? !hasEnded(status as InvocationStatus) : canRedrive(status as InvocationStatus),
  );
  const count = reached.reduce((sum, [, each]) => sum + each, 0);
  const verb = action === 'cancel' ? 'Cancel' : 'Run again';
  const submit = async () => {
    setBusy(true);
    try {
      const done = await (action === 'cancel' ? cancelMany(filter) : redriveMany(filter));
      say(`${action === 'cancel' ? 'Canceled' : 'Queued again'}: ${done.count.toLocaleString()}`);
      onClose();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={`${verb} ${count.toLocaleString()} invocations`}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Keep as they are</Button>
          <Button
            kind={action === 'cancel' ? 'danger filled' : 'primary'}
            submit
            busy={busy}
            may={{ ok: count > 0, why: 'None of those that match can be reached by this.' }}
          >
            {verb} {count.toLocaleString()}
          </Button>
        </>
      }
    >
      <p>
        {action === 'cancel'
          ? 'What waits will not run, and what runs is stopped. This cannot be undone; they can be submitted again.'
          : 'Each is queued again with the inputs that it had. Tools that are not idempotent take effect once more.'}
      </p>
      <ul className="stack tight">
        {reached.map(([status, each]) => (
          <li key={status} className="num">
            {each.toLocaleString()} {status.replaceAll('_', ' ')}
          </li>
        ))}
      </ul>
      <ProblemNote error={problem} />
    </Dialog>
  );
}
