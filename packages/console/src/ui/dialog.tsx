import { X } from 'lucide-react';
import { type ReactNode, type SubmitEvent, useEffect, useId, useRef } from 'react';
import { Button } from './button.js';
import './dialog.css';

type DialogProps = {
  title: string;
  onClose(): void;
  /** The action of the main button and of Enter. */
  onSubmit?(): void;
  footer?: ReactNode;
  width?: number;
  children: ReactNode;
};

/** The element that gets the focus first: the one marked in the dialog, otherwise a field, otherwise the title. */
const FIRST = ['[data-first]', '.dialog-body :is(input, select, textarea):not(:disabled)', 'h2'];

/** The browser's own modal dialog, which keeps the focus, closes with Escape, and makes the page behind it inert. */
export function Dialog({ title, onClose, onSubmit, footer, width = 480, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opened = dialog.current;
    const before = document.activeElement;
    if (opened && !opened.open) opened.showModal();
    // The browser would focus the close button, whose tooltip would consume the first Escape.
    for (const wanted of FIRST) {
      const control = opened?.querySelector<HTMLElement>(wanted);
      control?.focus();
      if (control) break;
    }
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
          <h2 id={id} tabIndex={-1}>
            {title}
          </h2>
          <Button kind="ghost" size="small" icon={<X />} aria-label="Close" onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {footer ? <footer className="dialog-foot">{footer}</footer> : null}
      </form>
    </dialog>
  );
}
