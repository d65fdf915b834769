import type { SandboxLevel } from '../sandbox/sandbox.js';
import { childrenOf } from './children-of.js';
import { signalGroup } from './process-group.js';

/**
 * Asks the tool to end. bubblewrap does not pass signals on: its child is pid 1 of the sandbox and leads the tool's group,
 * and signals that nobody handles do not touch a pid 1, only the others of the group.
 */
export const askToEnd = (level: SandboxLevel, pid: number): void => {
  const leader = level === 'bubblewrap' ? childrenOf(pid)[0] : pid;
  if (leader === undefined) signalGroup(pid, 'SIGKILL');
  else signalGroup(leader, 'SIGTERM');
};

/** The same for what a shell has started, which is in the shell's own group. */
export const askToEndIn = (level: SandboxLevel, shell: number): void => {
  if (level !== 'bubblewrap') askToEnd(level, shell);
  else for (const pid of childrenOf(shell)) askToEnd(level, pid);
};
