import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openCgroups } from './open-cgroups.js';
import { readOwnCgroups } from './own-cgroups.js';

const V2_MOUNT = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';

test('cgroups of version 2 have one folder for pids and memory', () => {
  expect(readOwnCgroups('0::/user.slice/app.scope\n', V2_MOUNT)).toEqual([
    { folder: '/sys/fs/cgroup/user.slice/app.scope', version: 2, controllers: ['pids', 'memory'] },
  ]);
});

test('cgroups of version 1 have a folder for each controller, and other controllers are left out', () => {
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

test('a cgroup outside the mounted part of the tree is not used', () => {
  expect(readOwnCgroups('0::/../other\n', V2_MOUNT)).toEqual([]);
  expect(readOwnCgroups('0::/app\n', V2_MOUNT.replace(' / ', ' /docker/abc '))).toEqual([]);
  expect(readOwnCgroups('0::/app\n', '')).toEqual([]);
});

/** With ordinary files in place of the kernel's: few machines let a test use a tree of version 2 with these controllers. */
describe('in a tree of version 2', () => {
  let root: string;
  let app: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'cgroups-'));
    app = join(root, 'app');
    mkdirSync(app);
    for (const folder of [root, app]) writeFileSync(join(folder, 'cgroup.subtree_control'), '');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const open = () => {
    const cgroups = openCgroups(() => [{ folder: app, version: 2, controllers: ['pids', 'memory'] }]);
    if (!cgroups) throw new Error('no cgroups');
    return cgroups;
  };
  const text = (...path: string[]) => readFileSync(join(...path), 'utf8');

  test('a run has one folder with both limits, and reports its peak and whether memory ran out', async () => {
    const cgroup = open().create({ processes: 7, memory_bytes: 1000 });
    const [folder = '', ...others] = cgroup.folders;
    expect(others).toEqual([]);
    expect([text(folder, 'pids.max'), text(folder, 'memory.max')]).toEqual(['7', '1000']);
    await cgroup.join(123);
    expect(text(folder, 'cgroup.procs')).toBe('123');
    writeFileSync(join(folder, 'pids.peak'), '5\n');
    writeFileSync(join(folder, 'memory.events'), 'low 0\noom 3\noom_kill 2\n');
    expect([cgroup.peak(), cgroup.outOfMemory()]).toEqual([5, 2]);
  });

  test('the controllers are enabled for runs through a folder of the worker', () => {
    const [home = ''] = open().folders;
    expect(dirname(home)).toBe(app);
    expect([text(app, 'cgroup.subtree_control'), text(home, 'cgroup.subtree_control')]).toEqual(
      Array(2).fill('+pids +memory'),
    );
  });

  test("runs are placed beside the worker's own folder if it holds processes and so cannot enable controllers", () => {
    rmSync(join(app, 'cgroup.subtree_control'));
    // Read-only, like the real one.
    mkdirSync(join(app, 'cgroup.subtree_control'));
    expect(open().folders.map(dirname)).toEqual([root]);
  });
});
