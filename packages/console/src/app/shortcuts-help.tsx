import { Dialog } from '../ui/dialog.js';
import { PAGES } from './pages.js';

const HELP: readonly (readonly [title: string, keys: readonly (readonly [string, string])[]])[] = [
  [
    'Anywhere',
    [
      ['Ctrl K', 'Find a page, a tool or an id'],
      ['/', 'Search the list'],
      ['?', 'This help'],
    ],
  ],
  [
    'Lists',
    [
      ['j', 'Down'],
      ['k', 'Up'],
      ['Enter', 'Open'],
      ['x', 'Select'],
      ['Esc', 'Clear the selection'],
    ],
  ],
  [
    'Approvals',
    [
      ['a', 'Approve'],
      ['e', 'Edit, then approve'],
      ['r', 'Reject with a reason'],
      ['c', 'Comment'],
    ],
  ],
  ['Go to', PAGES.map(({ key, label }) => [`g ${key}`, label] as const)],
];

export const ShortcutsHelp = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose} width={560}>
    <div className="grid-2">
      {HELP.map(([title, keys]) => (
        <section key={title} className="stack tight">
          <h3>{title}</h3>
          {keys.map(([key, what]) => (
            <div key={key} className="row">
              <span style={{ width: 62 }}>
                <kbd className="kbd">{key}</kbd>
              </span>
              {what}
            </div>
          ))}
        </section>
      ))}
    </div>
  </Dialog>
);
