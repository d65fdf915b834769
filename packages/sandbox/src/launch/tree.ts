import type { Cgroup } from '../cgroup/cgroup.js';
import type { Cgroups } from '../cgroup/open-cgroups.js';
import type { ResourceLimits } from '../resource-limits.js';
import { childrenOf } from './processes.js';

/** What the processes of a run used together. */
export type TreeUse = {
  /** The peak number of tasks (processes and their threads). */
  processes: number;
  out_of_memory: boolean;
};

/** All processes of a shell together: limited as a whole, and counted for each run. */
export type Tree = {
  join(shell: number): Promise<void>;
  begin(): void;
  /** `was_fed`: one more process wrote the input. */
  end(run: { failed: boolean; was_fed: boolean }): TreeUse;
  /** Resolves when the next run can be counted. */
  renew(): Promise<void>;
  remove(): void;
};

/** The sandbox has one process outside the namespace and one inside. */
export const SANDBOX = 2;
/**
 * The pid 1 of a namespace is reparented to the machine's own init, and counts until that reaps it, which may take a while. This
 * many of them are tolerated.
 */
const LEFT_OVER = 8;
/** The shell that starts the sandbox. */
export const SHELL = 1;
/** Tasks allowed in addition to the tool's own, including one that writes the input. */
const ROOM = SHELL + SANDBOX + 1 + LEFT_OVER;

export const openTree = (cgroups: Cgroups, { processes, memory_bytes }: ResourceLimits): Tree => {
  const make = (): Cgroup => cgroups.create({ processes: processes + ROOM, memory_bytes });
  let cgroup = make();
  let before = 1;
  let peak = 0;
  let killed = 0;
  let shell = 0;

  /** A peak never falls. Once it is higher than a run of one process can reach, it would hide the peaks of later runs. */
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

/** The processes of one run that was not started by a waiting shell: limited as a whole, and counted. */
export type LoneTree = { join(pid: number): Promise<void>; use(): TreeUse; remove(): void };

export const openLoneTree = (
  cgroups: Cgroups,
  { processes, memory_bytes }: Pick<ResourceLimits, 'processes' | 'memory_bytes'>,
  around = SANDBOX,
): LoneTree => {
  const cgroup = cgroups.create({ processes: processes + around, memory_bytes });
  return {
    /** Also moves what the process has started by now. What a member starts later is in the cgroup from its start. */
    join: async (pid) => {
      const joined = new Set<number>();
      for (
        let fresh = [pid];
        fresh.length > 0;
        fresh = [...joined].flatMap(childrenOf).filter((one) => !joined.has(one))
      )
        for (const one of fresh) {
          joined.add(one);
          // It may be gone already.
          await cgroup.join(one).catch(() => {});
        }
    },
    use: () => ({ processes: Math.max(1, cgroup.peak() - around), out_of_memory: cgroup.outOfMemory() > 0 }),
    remove: () => void cgroup.remove(),
  };
};
