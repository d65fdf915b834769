import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Controller, OwnCgroup } from './own-cgroups.js';

/** What all processes of a run may use together. */
export type TreeLimits = { processes: number; memory_bytes: number };

export type Cgroup = {
  folders: readonly string[];
  /** Moves a process in, and with it all that it starts from then on. Asynchronous, because the kernel needs 1 ms or more. */
  join(pid: number): Promise<void>;
  /** The number of tasks in it. One that has ended counts until it is reaped. */
  current(): number;
  /** The peak number of tasks (processes and their threads); 0 if the kernel does not report it. */
  peak(): number;
  /** How many of its processes the kernel killed because memory ran out. */
  outOfMemory(): number;
  /** False while a process is still in it. */
  remove(): boolean;
};

export const createCgroup = (homes: readonly OwnCgroup[], name: string, limits: TreeLimits): Cgroup => {
  const folders = homes.map(({ folder, ...home }) => ({ ...home, folder: join(folder, name) }));
  const fileOf = (controller: Controller, names: Record<1 | 2, string>): string => {
    const home = folders.find(({ controllers }) => controllers.includes(controller));
    return join(home?.folder ?? '', names[home?.version ?? 2]);
  };
  const memory_limit = fileOf('memory', { 1: 'memory.limit_in_bytes', 2: 'memory.max' });
  const memory_events = fileOf('memory', { 1: 'memory.oom_control', 2: 'memory.events' });
  const pids = (name: string) => fileOf('pids', { 1: `pids.${name}`, 2: `pids.${name}` });
  const pids_peak = pids('peak');
  const pids_current = pids('current');

  const make = () => {
    for (const { folder } of folders) mkdirSync(folder);
    writeFileSync(pids('max'), `${limits.processes}`);
    writeFileSync(memory_limit, `${limits.memory_bytes}`);
  };
  const remove = () => {
    for (const { folder } of folders) quietly(() => rmdirSync(folder));
    return folders.every(({ folder }) => !existsSync(folder));
  };
  try {
    make();
  } catch (error) {
    remove();
    throw error;
  }
  return {
    folders: folders.map(({ folder }) => folder),
    join: async (pid) => {
      for (const { folder } of folders) await writeFile(join(folder, 'cgroup.procs'), `${pid}`);
    },
    current: () => quietly(() => Number(readFileSync(pids_current, 'utf8'))) ?? 0,
    peak: () => quietly(() => Number(readFileSync(pids_peak, 'utf8'))) ?? 0,
    outOfMemory: () =>
      quietly(() => Number(/^oom_kill (\d+)$/m.exec(readFileSync(memory_events, 'utf8'))?.[1] ?? 0)) ?? 0,
    remove,
  };
};

const quietly = <T>(action: () => T): T | null => {
  try {
    return action();
  } catch {
    return null;
  }
};
