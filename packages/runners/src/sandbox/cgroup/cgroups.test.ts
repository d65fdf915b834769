import { expect, test } from 'vitest';
import { readOwnCgroups } from './own-cgroups.js';

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';

test('version 2 is one folder for both', () => {
  expect(readOwnCgroups('0::/user.slice/app.scope\n', V2_MOUNT)).toEqual([
    { folder: '/sys/fs/cgroup/user.slice/app.scope', version: 2, controllers: ['pids', 'memory'] },
  ]);
});

test('version 1 has a folder for each, and what is not needed is left out', () => {
  const mounts = [
    '31 30 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
    '32 30 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory',
    '33 30 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct',
  ].join('\n');
  const found = readOwnCgroups('8:pids:/\n4:memory:/docker/abc/worker\n2:cpu,cpuacct:/\n1:name=systemd:/\n', mounts);
  expect(found.filter(({ controllers }) => controllers.length > 0)).toEqual([
    { folder: '/sys/fs/cgroup/pids', version: 1, controllers: ['pids'] },
    { folder: '/sys/fs/cgroup/memory/worker', version: 1, controllers: ['memory'] },
  ]);
});

test('what is mounted from elsewhere is not ours', () => {
  expect(readOwnCgroups('0::/../other\n', V2_MOUNT)).toEqual([]);
  expect(readOwnCgroups('0::/app\n', V2_MOUNT.replace(' / ', ' /docker/abc '))).toEqual([]);
  expect(readOwnCgroups('0::/app\n', '')).toEqual([]);
});
