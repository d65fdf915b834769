import { join } from 'node:path';
import { prlimitArgs } from './resource-limits.js';
import type { Confined, Identity, Launch, Mount, Sandbox } from './sandbox.js';
import type { SystemPart } from './system-view.js';

/** Tools of util-linux (and of busybox), found once. */
export type NamespaceTools = {
  unshare: string;
  sh: string;
  mount: string;
  umount: string;
  pivot_root: string;
  setpriv: string;
  prlimit: string | null;
  /** Brings the loopback interface up; without it there is no network at this level. */
  ip: string | null;
};

export type NamespacesOptions = {
  tools: NamespaceTools;
  system: readonly SystemPart[];
  identity: Identity;
  /** An empty directory, where the tool's root is put together in a mount namespace of its own. */
  new_root: string;
};

/**
 * The level for machines without bubblewrap: `unshare` makes the namespaces, a small script in them puts the same view of
 * the system together, leaves the old root behind, and starts the tool without any capability. The script stays as pid 1:
 * when it ends, or `unshare` does, the kernel ends all that is left.
 */
export const createNamespaces = ({ tools, system, identity, new_root }: NamespacesOptions): Sandbox => {
  const prepared = system.map((part) => place(tools, part)).join('\n');
  const root = { ...identity };
  return {
    level: 'namespaces',
    holds_tree: true,
    dies_with_worker: false,
    maps_paths: true,
    identity,
    around_shell: [],
    launch: (confined): Launch => ({
      file: tools.unshare,
      args: [
        ...['--user', '--map-current-user', '--keep-caps', '--pid', '--fork', '--kill-child'],
        ...['--mount', '--propagation', 'private', '--net', '--ipc', '--uts', '--cgroup'],
        tools.sh,
        '-c',
        script(tools, prepared, new_root, confined),
        'capstan',
        tools.setpriv,
        ...['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs', '--'],
        ...(tools.prlimit === null ? [] : prlimitArgs(tools.prlimit, confined.limits)),
        confined.file,
        ...confined.args,
      ],
      env: { ...confined.env, ...confined.secret_env },
      cwd: '/',
      ...root,
    }),
  };
};

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

const script = (tools: NamespaceTools, prepared: string, new_root: string, confined: Confined): string => {
  const { mount, umount, pivot_root, ip } = tools;
  const size = confined.limits.temporary_bytes;
  const memory = (path: string) => `mkdir -p .${path}; ${mount} -t tmpfs -o size=${size},nosuid,nodev tmpfs .${path}`;
  return `
set -e
PATH_OF_TOOL=$PATH; PATH=/usr/bin:/bin:/usr/sbin:/sbin
${mount} -t tmpfs -o size=1m,mode=755,nosuid,nodev tmpfs ${quote(new_root)}
cd ${quote(new_root)}
${prepared}
mkdir -p proc dev old
${mount} -t proc proc proc
${DEVICES.map((name) => `: > dev/${name}; ${mount} --bind /dev/${name} dev/${name}`).join('\n')}
${confined.tty ? `: > dev/console; ${mount} --bind /proc/self/fd/0 dev/console` : ''}
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
${memory('/dev/shm')}
${memory('/tmp')}
${confined.mounts.map((one) => bindReadOnly(mount, one)).join('\n')}
${confined.work.writable ? bind(mount, confined.work) : bindReadOnly(mount, confined.work)}
${confined.loopback && ip !== null ? `${ip} link set lo up` : ''}
${pivot_root} . old
cd /
${umount} -n -l old
rmdir old
${mount} -o remount,ro,nosuid,nodev /
cd ${quote(confined.work.path)}
PATH=$PATH_OF_TOOL; unset PATH_OF_TOOL OLDPWD
set +e
"$@"
exit $?
`;
};

const place = ({ mount }: NamespaceTools, part: SystemPart): string => {
  if (part.symlink) return `mkdir -p ${parent(part.path)}; ln -s ${quote(part.source)} ${inside(part.path)}`;
  return bindReadOnly(mount, part);
};

const bind = (mount: string, { source, path, file }: Mount): string =>
  `mkdir -p ${file ? parent(path) : inside(path)}; ${file ? `: > ${inside(path)}; ` : ''}` +
  `${mount} --rbind ${quote(source)} ${inside(path)}`;

const bindReadOnly = (mount: string, one: Mount): string =>
  `${bind(mount, one)}; ${mount} -o remount,bind,ro ${inside(one.path)}`;

const inside = (path: string): string => quote(`.${path}`);
const parent = (path: string): string => quote(`.${join(path, '..')}`);
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
