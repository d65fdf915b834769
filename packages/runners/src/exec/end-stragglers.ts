import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** What processes of a run have in their environment where no namespace holds them, and those that they start from them. */
export const RUN_MARK = 'CAPSTAN_RUN';

/** One that forks faster than this kills is left to the limit on processes. */
const ROUNDS = 50;
const PAUSE_MS = 2;

/**
 * Ends what has left the process group of its run, by `setsid` or as a daemon, and so got away from the signal to all of
 * it. Who also cleans its environment is not found; what has to be held for sure needs a sandbox.
 */
export const endStragglers = async (mark: string): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const left = marked(`${RUN_MARK}=${mark}`);
    if (left.length === 0) return;
    for (const pid of left) end(pid);
    await delay(PAUSE_MS);
  }
};

const marked = (entry: string): number[] =>
  processes().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry);
    } catch {
      // It is gone, or another user's.
      return false;
    }
  });

/** None where there is no such file system. */
const processes = (): number[] => {
  try {
    return readdirSync('/proc').map(Number).filter(Boolean);
  } catch {
    return [];
  }
};

const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Faster than we were.
  }
};
