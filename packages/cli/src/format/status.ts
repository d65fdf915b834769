import type { RunStatus, StepStatus, WorkerInfo } from '@capstan/contracts';
import type { Colors } from '../output.js';

export type AnyStatus = StepStatus | RunStatus | WorkerInfo['status'] | 'invalid' | 'open';
type Paint = 'green' | 'red' | 'yellow' | 'cyan' | 'gray' | 'magenta';

/** Every icon is one column wide, also in terminals that draw emoji in two. */
const LOOK: Record<AnyStatus, readonly [icon: string, paint: Paint]> = {
  succeeded: ['✓', 'green'],
  completed: ['✓', 'green'],
  alive: ['●', 'green'],
  open: ['●', 'green'],
  running: ['▸', 'cyan'],
  queued: ['○', 'gray'],
  pending: ['○', 'gray'],
  deferred: ['◷', 'yellow'],
  held: ['⏸', 'yellow'],
  paused: ['⏸', 'yellow'],
  draining: ['◌', 'yellow'],
  failed: ['✗', 'red'],
  invalid: ['✗', 'red'],
  lost: ['✗', 'red'],
  timed_out: ['◔', 'red'],
  expired: ['◔', 'red'],
  denied: ['⊘', 'magenta'],
  rejected: ['⊘', 'magenta'],
  ambiguous: ['?', 'magenta'],
  canceled: ['–', 'gray'],
  skipped: ['–', 'gray'],
  stopped: ['–', 'gray'],
};

export const statusText = (status: AnyStatus): string => `${LOOK[status]?.[0] ?? '·'} ${status}`;

/** The colour of a status, for text that has its width already. */
export const paintStatus = (status: AnyStatus, text: string, colors: Colors): string =>
  colors[LOOK[status]?.[1] ?? 'gray'](text);

export const formatStatus = (status: AnyStatus, colors: Colors): string =>
  paintStatus(status, statusText(status), colors);

/** What something came to that was acted on, in a line. */
export const statusLine =
  <Item extends { status: AnyStatus }>(colors: Colors, noteOf: (item: Item) => string = () => '') =>
  (item: Item, id: string): string =>
    `${formatStatus(item.status, colors)}  ${id}  ${colors.dim(noteOf(item))}`.trimEnd();
