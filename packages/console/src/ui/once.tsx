import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { CopyButton } from './id.js';

type Props = { title: string; value: string; onClose(): void; children: ReactNode };

/** A value that is shown only once, such as a new key. */
export const Once = ({ title, value, onClose, children }: Props) => (
  <Dialog
    title={title}
    onClose={onClose}
    onSubmit={onClose}
    footer={
      <Button kind="primary" submit>
        I have saved it
      </Button>
    }
  >
    <div className="note tone-amber">
      <TriangleAlert />
      <span>{children}</span>
    </div>
    <div className="block row between once">
      <code>{value}</code>
      <span className="id">
        <CopyButton text={value} label="Copy" />
      </span>
    </div>
  </Dialog>
);
