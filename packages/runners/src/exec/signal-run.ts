import type { Sandbox } from '../sandbox/sandbox.js';
import { childrenOf } from './children-of.js';
import { signalGroup } from './process-group.js';

/**
 * Ends a run at once by its first process: of a namespace the kernel then ends all of it; our `init` ends all its descendants. What started that
 * process is left alone, because it tells when it is gone. `starters` are what the worker, or a shell of its own, has started.
 */
export const killRun = ({ holds }: Pick<Sandbox, 'holds'>, starters: readonly number[]): void => {
  if (holds === 'namespace') for (const first of starters.flatMap(childrenOf)) signal(first, 'SIGKILL');
  else for (const starter of starters) signal(starter, holds === 'descendants' ? 'SIGQUIT' : 'SIGKILL');
};

/**
 * Asks the tool to end. In bubblewrap the first process leads the tool's group and is not touched by the signal itself; `unshare` and what it
 * starts are in the group of the shell.
 */
export const askRun = ({ level, holds }: Sandbox, starters: readonly number[], leader: number): void => {
  if (level === 'bubblewrap') for (const first of starters.flatMap(childrenOf)) signalGroup(first, 'SIGTERM');
  else if (holds === 'descendants') for (const starter of starters) signal(starter, 'SIGTERM');
  else signalGroup(leader, 'SIGTERM');
};

const AGAIN_MS = 5;
/** When nothing else helps, the group goes: what is left of a namespace goes with it. */
const GROUP_MS = 5000;

/** Kills until the end has been seen: when it begins, the first process may not be there yet. Returns what stops it. */
export const killUntilGone = (
  sandbox: Pick<Sandbox, 'holds'>,
  starters: () => readonly number[],
  leader: number,
): (() => void) => {
  killRun(sandbox, starters());
  const again = setInterval(() => killRun(sandbox, starters()), AGAIN_MS);
  const late = setTimeout(() => signalGroup(leader, 'SIGKILL'), GROUP_MS);
  return () => {
    clearInterval(again);
    clearTimeout(late);
  };
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already.
  }
};
