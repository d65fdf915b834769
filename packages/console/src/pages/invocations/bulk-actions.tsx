import type { InvocationStatus } from '@capstan/contracts';
import { CircleX, Copy, HelpCircle, ListChecks, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { canRedrive, hasEnded, type InvocationCounts, useInvocationActions } from '../../api/invocations.js';
import { type May, useMay } from '../../api/me.js';
import type { Query } from '../../api/request.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { Menu } from '../../ui/menu.js';
import { useToast } from '../../ui/toast.js';
import { BulkAgainDialog } from './bulk-again-dialog.js';
import { BulkResolveDialog } from './bulk-resolve-dialog.js';

type Props = { filter: Query; counts: InvocationCounts | undefined; filtered: boolean };
type Action = 'cancel' | 'redrive';
type Asking = Action | 'resolve' | 'again';

/** Actions on all matching calls. The dialog states the action and the count first. */
export function BulkActions({ filter, counts, filtered }: Props) {
  const operate = useMay('operate');
  const [asking, setAsking] = useState<Asking | null>(null);
  const submit = useMay('submit');
  const close = () => setAsking(null);
  const after = (role: May): May =>
    role.ok ? { ok: filtered, why: 'Filter the list first: this applies to all matches.' } : role;
  const may = after(operate);
  return (
    <>
      <Menu
        trigger={
          <button type="button" className="button">
            <ListChecks />
            All matches
          </button>
        }
        items={[
          { label: 'Run failed calls again', icon: <RotateCcw />, may, onSelect: () => setAsking('redrive') },
          { label: 'Resolve ambiguous calls', icon: <HelpCircle />, may, onSelect: () => setAsking('resolve') },
          {
            label: 'Run with changed inputs',
            icon: <Copy />,
            may: after(submit),
            onSelect: () => setAsking('again'),
          },
          {
            label: 'Cancel unfinished calls',
            icon: <CircleX />,
            danger: true,
            may,
            onSelect: () => setAsking('cancel'),
          },
        ]}
      />
      {asking === 'cancel' || asking === 'redrive' ? (
        <BulkDialog action={asking} filter={filter} counts={counts} onClose={close} />
      ) : null}
      {asking === 'resolve' ? (
        <BulkResolveDialog filter={filter} count={counts?.status.ambiguous ?? 0} onClose={close} />
      ) : null}
      {asking === 'again' ? (
        <BulkAgainDialog
          filter={filter}
          count={countOf(counts, hasEnded)}
          tools={Object.keys(counts?.tool_id ?? {})}
          onClose={close}
        />
      ) : null}
    </>
  );
}

const countOf = (counts: InvocationCounts | undefined, is: (status: InvocationStatus) => boolean): number =>
  Object.entries(counts?.status ?? {}).reduce(
    (sum, [status, count]) => (is(status as InvocationStatus) ? sum + count : sum),
    0,
  );

type DialogProps = { action: Action; filter: Query; counts: InvocationCounts | undefined; onClose(): void };

function BulkDialog({ action, filter, counts, onClose }: DialogProps) {
  const { cancelMany, redriveMany } = useInvocationActions();
  const say = useToast();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const isReached = (status: InvocationStatus) => (action === 'cancel' ? !hasEnded(status) : canRedrive(status));
  const reached = Object.entries(counts?.status ?? {}).filter(([status]) => isReached(status as InvocationStatus));
  const count = countOf(counts, isReached);
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
            may={{ ok: count > 0, why: 'This applies to none of the matches.' }}
          >
            {verb} {count.toLocaleString()}
          </Button>
        </>
      }
    >
      <p>
        {action === 'cancel'
          ? 'Waiting calls will not run, and running calls are stopped. This cannot be undone, but they can be submitted again.'
          : 'Each is queued again with the same inputs. Tools that are not idempotent take effect a second time.'}
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
