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
  join(shell: number): void;
  /** Told whether the shell goes on, how the run ended, and whether one more process fed its input. */
  end(run: { goes_on: boolean; failed: boolean; was_fed: boolean }): TreeUse;
  remove(): void;
};

/** The shell, and the sandbox's process on either side of the namespace's border. */
const OWN = 3;
/** One more feeds the input. */
const ROOM = OWN + 1;

export const openTree = (cgroups: Cgroups, { processes, memory_bytes }: ResourceLimits): Tree => {
  const make = (): Cgroup => cgroups.create({ processes: processes + ROOM, memory_bytes });
  let cgroup = make();
  let peak = 0;
  let killed = 0;
  let shell = 0;

  /** A peak only ever rises. What raised it would hide what the next run does. */
  const renew = (): void => {
    const fresh = make();
    fresh.join(shell);
    cgroup.remove();
    cgroup = fresh;
    peak = 0;
    killed = 0;
  };

  return {
    join: (pid) => {
      shell = pid;
      cgroup.join(pid);
    },
    end: ({ goes_on, failed, was_fed }) => {
      const killed_before = killed;
      const peak_before = peak;
      peak = cgroup.peak();
      if (failed) killed = cgroup.outOfMemory();
      const seen = peak > peak_before ? peak - OWN - (was_fed ? 1 : 0) : 1;
      const use = { processes: Math.max(1, seen), out_of_memory: killed > killed_before };
      if (goes_on && use.processes > 1) renew();
      return use;
    },
    remove: () => cgroup.remove(),
  };
};
