import type { InvocationDetail } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import { CircleX, Copy, HelpCircle, RotateCcw, Stamp } from 'lucide-react';
import { useState } from 'react';
import { canRedrive, hasEnded, useInvocationActions } from '../../api/invocations.js';
import { useMay } from '../../api/me.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ProblemNote } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { useToast } from '../../ui/toast.js';
import { mayResolve, NOTHING_FOUND, ResolveFields } from './resolve-fields.js';

type Asking = 'cancel' | 'redrive' | 'resolve';

export function InvocationActions({ call }: { call: InvocationDetail }) {
  const navigate = useNavigate();
  const operate = useMay('operate');
  const submit = useMay('submit');
  const either = useMay('submit', 'operate');
  const [asking, setAsking] = useState<Asking | null>(null);
  const { status, hold_id, tool_id, invocation_id } = call;
  const close = () => setAsking(null);
  return (
    <>
      {status === 'held' && hold_id ? (
        <Button
          kind="primary"
          icon={<Stamp />}
          onClick={() => void navigate({ to: '/approvals/$id', params: { id: hold_id } })}
        >
          Decide
        </Button>
      ) : null}
      {status === 'ambiguous' ? (
        <Button kind="primary" icon={<HelpCircle />} may={operate} onClick={() => setAsking('resolve')}>
          Resolve
        </Button>
      ) : null}
      {canRedrive(status) ? (
        <Button icon={<RotateCcw />} may={operate} onClick={() => setAsking('redrive')}>
          Run again
        </Button>
      ) : null}
      <Button
        icon={<Copy />}
        may={submit}
        onClick={() => void navigate({ to: '/tools/$id', params: { id: tool_id }, search: { from: invocation_id } })}
      >
        New call like this
      </Button>
      {hasEnded(status) ? null : (
        <Button kind="danger" icon={<CircleX />} may={either} onClick={() => setAsking('cancel')}>
          Cancel
        </Button>
      )}
      {asking === 'resolve' ? <ResolveDialog call={call} onClose={close} /> : null}
      {asking === 'cancel' || asking === 'redrive' ? (
        <ConfirmDialog call={call} action={asking} onClose={close} />
      ) : null}
    </>
  );
}

type DialogProps = { call: InvocationDetail; onClose(): void };

function ConfirmDialog({ call, action, onClose }: DialogProps & { action: 'cancel' | 'redrive' }) {
  const actions = useInvocationActions();
  const say = useToast();
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async () => {
    try {
      await actions[action](call.invocation_id);
      say(action === 'cancel' ? 'Canceled' : 'Queued again');
      onClose();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <Dialog
      title={action === 'cancel' ? 'Cancel this call' : 'Run this call again'}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>Keep as it is</Button>
          <Button kind={action === 'cancel' ? 'danger filled' : 'primary'} submit>
            {action === 'cancel' ? 'Cancel the call' : 'Run again'}
          </Button>
        </>
      }
    >
      <p>
        {action === 'cancel'
          ? call.status === 'running'
            ? 'The tool is stopped. What it has already done is not undone.'
            : 'It will not run. It can be submitted again.'
          : 'It is queued again with the same inputs. A tool that is not idempotent takes effect a second time.'}
      </p>
      <ProblemNote error={problem} />
    </Dialog>
  );
}

/** For an ambiguous call: its worker was lost, and only a person can find out whether the tool took effect. */
function ResolveDialog({ call, onClose }: DialogProps) {
  const { resolve } = useInvocationActions();
  const say = useToast();
  const [finding, setFinding] = useState(NOTHING_FOUND);
  const submit = async () => {
    await resolve(call.invocation_id, finding);
    say('Resolved');
  };
  return (
    <FormDialog
      title="Record the outcome"
      action="Resolve"
      may={mayResolve(finding)}
      onClose={onClose}
      onSubmit={submit}
    >
      <p>Its worker was lost during the run. Find out whether the call took effect, then record it here.</p>
      <ResolveFields value={finding} onChange={setFinding} />
    </FormDialog>
  );
}
