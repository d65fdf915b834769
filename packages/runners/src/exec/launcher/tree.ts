import type { Cgroup } from '../../sandbox/cgroup/cgroup.js';
import type { Cgroups } from '../../sandbox/cgroup/open-cgroups.js';
import type { ResourceLimits } from '../../sandbox/resource-limits.js';

/** What the processes of a run were seen to use together. */
export type TreeUse = {
  /** The most tasks (processes, and threads of them) at once. */
  processes: number;
  out_of_memory: boolean;
};

/** All that a shell runs, as one: bounded, and counted run by run. */
export type Tree = {
  join(shell: number): Promise<void>;
  begin(): void;
  /** Told how the run ended, and whether one more process fed its input. */
  end(run: { failed: boolean; was_fed: boolean }): TreeUse;
  /** Resolves when the next run can be counted. */
  renew(): Promise<void>;
  remove(): void;
};

/** The sandbox's process on either side of the namespace's border. */
export const SANDBOX = 2;
/**
 * A namespace's first process is left to the first process of the machine, which may take its time to ask how it ended, and
 * until then it counts. So many of them are no trouble.
 */
const LEFT_OVER = 8;
/** What the sandbox is started by. */
export const SHELL = 1;
/** And one that feeds the input. */
const ROOM = SHELL + SANDBOX + 1 + LEFT_OVER;

export const openTree = (cgroups: Cgroups, { processes, memory_bytes }: ResourceLimits): Tree => {
  const make = (): Cgroup => cgroups.create({ processes: processes + ROOM, memory_bytes });
  let cgroup = make();
  let before = 1;
  let peak = 0;
  let killed = 0;
  let shell = 0;

  /** A peak only ever rises. What raised it above all that a run of one process will reach would hide what others do. */
  const isSpent = (): boolean => {
    const left = cgroup.current();
    return left > LEFT_OVER || peak > left + SANDBOX + 1;
  };

  return {
    join: async (pid) => {
      shell = pid;
      await cgroup.join(pid);
    },
    begin: () => {
      before = Math.max(1, cgroup.current());
    },
    end: ({ failed, was_fed }) => {
      const killed_before = killed;
      const peak_before = peak;
      peak = cgroup.peak();
      if (failed) killed = cgroup.outOfMemory();
      const seen = peak > peak_before ? peak - before - SANDBOX - (was_fed ? 1 : 0) : 1;
      return { processes: Math.max(1, seen), out_of_memory: killed > killed_before };
    },
    renew: async () => {
      if (!isSpent()) return;
      const spent = cgroup;
      cgroup = make();
      peak = 0;
      killed = 0;
      try {
        await cgroup.join(shell);
      } finally {
        spent.remove();
      }
    },
    remove: () => cgroup.remove(),
  };
};
