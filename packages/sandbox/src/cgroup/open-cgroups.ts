import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Cgroup, createCgroup, type TreeLimits } from './cgroup.js';
import { type OwnCgroup, readOwnCgroups } from './own-cgroups.js';

/** Limits a run and all its descendants together; prlimit limits each process separately. */
export type Cgroups = {
  /** Used by this worker alone. The cgroups of its runs are below. */
  folders: readonly string[];
  create(limits: TreeLimits): Cgroup;
  close(): void;
};

/** Null if there are no cgroups, or the worker may not create its own, as in most containers. Determined by trying once. */
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
    if (!bounded.has('pids') || !bounded.has('memory')) throw new Error('pids and memory cannot both be limited');
    let made = 0;
    let retired: Cgroup[] = [];
    const create = (limits: TreeLimits): Cgroup => {
      retired = retired.filter((cgroup) => !cgroup.remove());
      made += 1;
      const cgroup = createCgroup(homes, `run-${made}`, limits);
      // Killed processes need a moment to disappear, so the next `create` retries the removal.
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

/** Version 2 allows no processes in inner cgroups. Where that forbids one below the worker's own, it is created beside it. */
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
      // The next parent may work.
    }
  }
  return null;
};

/** Enables the controllers for the cgroups below. */
const handDown = (folder: string): void => writeFileSync(join(folder, 'cgroup.subtree_control'), '+pids +memory');

const makeFolder = (folder: string): string => {
  mkdirSync(folder);
  return folder;
};

const removeFolder = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // A process is still in it. An empty cgroup that stays costs nothing.
  }
};

/** Checks that a process can join: permission to create a cgroup is not enough. */
const tryOnce = (cgroup: Cgroup): void => {
  const script = 'for folder; do echo $$ > "$folder/cgroup.procs" || exit 1; done';
  const { status } = spawnSync('/bin/sh', ['-c', script, 'capstan', ...cgroup.folders], { stdio: 'ignore', env: {} });
  cgroup.remove();
  if (status !== 0) throw new Error('no process can join the cgroup');
};
