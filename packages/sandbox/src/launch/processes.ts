import { readFileSync } from 'node:fs';

/** Empty if the process is gone or the kernel does not list children. */
export const childrenOf = (pid: number): number[] => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
};

export const signalProcess = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
};

/**
 * Signals every process in the group of `leader`. It does not reach processes that created their own group or session
 * (`setsid`): a pid namespace or our `init` ends those.
 */
export const signalGroup = (leader: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is empty, or belongs to another user: nothing more can be done from here.
  }
};
