import { type ReactNode, useState } from 'react';
import type { May } from '../api/me.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { ProblemNote } from './empty.js';

type Props = {
  title: string;
  /** What the button says that does it. */
  action: ReactNode;
  onClose(): void;
  /** Closes the dialog when it is done; what goes wrong is shown in it. */
  onSubmit(): Promise<unknown>;
  may?: May;
  danger?: boolean;
  cancel?: string;
  width?: number;
  children?: ReactNode;
};

/** Asks for what an action needs, does it, and stays open with the reason when it is refused. */
export function FormDialog(props: Props) {
  const { title, action, onClose, onSubmit, may, danger = false, cancel = 'Cancel', width, children } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const submit = async () => {
    if (busy || may?.ok === false) return;
    setBusy(true);
    setProblem(null);
    try {
      await onSubmit();
      onClose();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void submit()}
      {...(width ? { width } : {})}
      footer={
        <>
          <Button onClick={onClose}>{cancel}</Button>
          <Button kind={danger ? 'danger filled' : 'primary'} submit busy={busy} {...(may ? { may } : {})}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      <ProblemNote error={problem} />
    </Dialog>
  );
}
