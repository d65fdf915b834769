import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cgroup, createCgroup, type TreeLimits } from './cgroup.js';
import { type OwnCgroup, readOwnCgroups } from './own-cgroups.js';

/** What bounds a run with all its children together; a limit of prlimit's counts each process by itself. */
export type Cgroups = {
  /** Of this worker alone; what is below goes with them. */
  folders: readonly string[];
  create(limits: TreeLimits): Cgroup;
  close(): void;
};

/** Null where there are none, or the worker may not make its own: most containers. Found out by doing it once. */
export const openCgroups = (own = ownCgroups): Cgroups | null => {
  const homes: OwnCgroup[] = [];
  const close = () => {
    for (const { folder } of homes) removeFolder(folder);
  };
  try {
    const name = `capstan-${process.pid}-${process.hrtime.bigint()}`;
    for (const each of own().filter(({ controllers }) => controllers.length > 0)) {
      const home = makeHome(each, name);
      if (home !== null) homes.push(home);
    }
    const bounded = new Set(homes.flatMap(({ controllers }) => controllers));
    if (!bounded.has('pids') || !bounded.has('memory')) throw new Error('not both can be bounded');
    let made = 0;
    let retired: Cgroup[] = [];
    const create = (limits: TreeLimits): Cgroup => {
      retired = retired.filter((cgroup) => !cgroup.remove());
      made += 1;
      const cgroup = createCgroup(homes, `run-${made}`, limits);
      // What was killed takes a moment to be gone, and then the next one cleans up.
      return { ...cgroup, remove: () => cgroup.remove() || retired.push(cgroup) === 0 };
    };
    tryOnce(create({ processes: 10, memory_bytes: 100_000_000 }));
    return { folders: homes.map(({ folder }) => folder), create, close };
  } catch {
    close();
    return null;
  }
};

const ownCgroups = (): OwnCgroup[] =>
  readOwnCgroups(readFileSync('/proc/self/cgroup', 'utf8'), readFileSync('/proc/self/mountinfo', 'utf8'));

/** Beside the worker's own where the version's rule, that inner ones hold no processes, forbids it below. */
const makeHome = ({ folder, version, controllers }: OwnCgroup, name: string): OwnCgroup | null => {
  if (version === 1) return { folder: makeFolder(join(folder, name)), version, controllers };
  for (const parent of [folder, dirname(folder)]) {
    if (!existsSync(join(parent, 'cgroup.subtree_control'))) continue;
    try {
      if (parent === folder) handDown(parent);
      const home = makeFolder(join(parent, name));
      try {
        handDown(home);
        return { folder: home, version, controllers };
      } catch {
        removeFolder(home);
      }
    } catch {
      // The next one may do.
    }
  }
  return null;
};

/** What is below may bound these. */
const handDown = (folder: string): void => writeFileSync(join(folder, 'cgroup.subtree_control'), '+pids +memory');

const makeFolder = (folder: string): string => {
  mkdirSync(folder);
  return folder;
};

const removeFolder = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody is still in it. It costs nothing.
  }
};

/** Whether a process can be put into it: to be allowed to make one is not enough. */
const tryOnce = (cgroup: Cgroup): void => {
  const script = 'for folder; do echo $$ > "$folder/cgroup.procs" || exit 1; done';
  const { status } = spawnSync('/bin/sh', ['-c', script, 'capstan', ...cgroup.folders], { stdio: 'ignore', env: {} });
  cgroup.remove();
  if (status !== 0) throw new Error('no process can be put into it');
};
