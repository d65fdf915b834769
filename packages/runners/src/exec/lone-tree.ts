import type { Cgroups } from '../sandbox/cgroup/open-cgroups.js';
import type { ResourceLimits } from '../sandbox/resource-limits.js';
import { childrenOf } from './children-of.js';
import { SANDBOX, type TreeUse } from './launcher/tree.js';

/** All of one process that was started by itself and not by a waiting shell: bounded, and counted. */
export type LoneTree = { join(pid: number): Promise<void>; use(): TreeUse; remove(): void };

export const openLoneTree = (
  cgroups: Cgroups,
  { processes, memory_bytes }: Pick<ResourceLimits, 'processes' | 'memory_bytes'>,
  around = SANDBOX,
): LoneTree => {
  const cgroup = cgroups.create({ processes: processes + around, memory_bytes });
  return {
    /** What it has started meanwhile as well: whoever is in it starts nothing outside. */
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
