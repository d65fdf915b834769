import { type ReactNode, useState } from 'react';
import type { May } from '../api/me.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { ProblemNote } from './empty.js';

type Props = {
  title: string;
  /** The label of the submit button. */
  action: ReactNode;
  onClose(): void;
  /** Performs the action. The dialog closes on success, and shows the error otherwise. */
  onSubmit(): Promise<unknown>;
  may?: May;
  danger?: boolean;
  cancel?: string;
  width?: number;
  children?: ReactNode;
};

/** A dialog with the fields of an action. It performs the action, and stays open with the reason if it is refused. */
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
