import type { Run, RunStatus, StepStatus, WorkerInfo } from '@capstan/contracts';
import type { Colors } from '../output.js';

export type AnyStatus = StepStatus | RunStatus | WorkerInfo['status'] | 'invalid' | 'open';
type Paint = 'green' | 'red' | 'yellow' | 'cyan' | 'gray' | 'magenta';

/** Every icon is one column wide, even in terminals that draw emoji in two. */
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

/** Colors a status that is already padded. */
export const paintStatus = (status: AnyStatus, text: string, colors: Colors): string =>
  colors[LOOK[status]?.[1] ?? 'gray'](text);

export const formatStatus = (status: AnyStatus, colors: Colors): string =>
  paintStatus(status, statusText(status), colors);

type RunState = Pick<Run, 'status' | 'held_steps'>;

/** The status of a run. A run that waits for a person says so, even if other steps are running. */
export const runStatusText = ({ status, held_steps }: RunState): string =>
  held_steps > 0
    ? `${LOOK.held[0]} ${status === 'running' ? '' : `${status}, `}waits for a person`
    : statusText(status);

export const paintRun = ({ status, held_steps }: RunState, text: string, colors: Colors): string =>
  paintStatus(held_steps > 0 ? 'held' : status, text, colors);

/** One line about the new status of something. */
export const statusLine =
  <Item extends { status: AnyStatus }>(colors: Colors, noteOf: (item: Item) => string = () => '') =>
  (item: Item, id: string): string =>
    `${formatStatus(item.status, colors)}  ${id}  ${colors.dim(noteOf(item))}`.trimEnd();
