import { join, relative } from 'node:path';

/** The worker's folder in a cgroup file system, and the controllers that can limit what is below it. */
export type OwnCgroup = { folder: string; version: 1 | 2; controllers: readonly Controller[] };
export type Controller = 'pids' | 'memory';

const CONTROLLERS: readonly Controller[] = ['pids', 'memory'];

/**
 * The cgroups of a process, from its /proc/self/cgroup and /proc/self/mountinfo. Version 2 has one tree for all controllers,
 * version 1 one for each. Both can exist at once.
 */
export const readOwnCgroups = (cgroup: string, mountinfo: string): OwnCgroup[] => {
  const mounts = mountinfo.split('\n').flatMap(toMount);
  return cgroup.split('\n').flatMap((line) => {
    const [, named = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    // A path above the root of the cgroup namespace is not ours.
    if (path === '' || path.startsWith('/..')) return [];
    const version = named === '' ? 2 : 1;
    const controllers = version === 2 ? CONTROLLERS : CONTROLLERS.filter((each) => named.split(',').includes(each));
    const mount = mounts.find(
      (each) => each.version === version && (version === 2 || controllers.some((name) => each.options.includes(name))),
    );
    const below = mount && relative(mount.root, path);
    if (!mount || below === undefined || below.startsWith('..')) return [];
    return [{ folder: join(mount.point, below), version, controllers }];
  });
};

type CgroupMount = { root: string; point: string; version: 1 | 2; options: readonly string[] };

const toMount = (line: string): CgroupMount[] => {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, point] = before.split(' ');
  const [type, , options = ''] = after.split(' ');
  if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
  return [{ root, point, version: type === 'cgroup2' ? 2 : 1, options: options.split(',') }];
};
