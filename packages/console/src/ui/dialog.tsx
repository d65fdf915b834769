import { X } from 'lucide-react';
import { type ReactNode, type SubmitEvent, useEffect, useId, useRef } from 'react';
import { Button } from './button.js';
import './dialog.css';

type DialogProps = {
  title: string;
  onClose(): void;
  /** What is done by the main button, or by Enter. */
  onSubmit?(): void;
  footer?: ReactNode;
  width?: number;
  children: ReactNode;
};

/** The browser's own modal dialog: it keeps the focus, closes with Escape, and makes the page behind it inert. */
export function Dialog({ title, onClose, onSubmit, footer, width = 480, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opened = dialog.current;
    const before = document.activeElement;
    if (opened && !opened.open) opened.showModal();
    // The browser would take the first control, which is the one that closes it.
    opened?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      opened?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <dialog
      ref={dialog}
      className="dialog"
      style={{ width }}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <form onSubmit={submit}>
        <header className="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button kind="ghost" size="small" icon={<X />} aria-label="Close" onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {footer ? <footer className="dialog-foot">{footer}</footer> : null}
      </form>
    </dialog>
  );
}
