import { join } from 'node:path';
import type { Inits } from './init/open-inits.js';
import { prlimitArgs, rlimitsOf } from './resource-limits.js';
import type { Confined, Identity, Launch, Mount, Sandbox } from './sandbox.js';
import { INITS, type SystemPart } from './system-view.js';
import { NOBODY } from './tool-users.js';

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
  /** Null: the script stays as the first process, and there is no filter of system calls. */
  inits: Inits | null;
  system: readonly SystemPart[];
  identity: Identity;
  /** An empty directory, where the tool's root is put together in a mount namespace of its own. */
  new_root: string;
};

/**
 * The level for machines without bubblewrap: `unshare` makes the namespaces, a small script in them puts the same view of
 * the system together, leaves the old root behind, gives up every capability and becomes our `init`, which starts the tool. It
 * is pid 1: when it ends, or `unshare` does, the kernel ends all that is left.
 */
export const createNamespaces = (options: NamespacesOptions): Sandbox => {
  const { tools, inits, system, identity } = options;
  const prepared = system.map((part) => place(tools, part)).join('\n');
  // Inside it has the name that /etc/passwd knows, whichever tenant's it is.
  const mapped = identity === null ? ['--map-current-user'] : [`--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  return {
    level: 'namespaces',
    features: [...(inits === null ? [] : (['seccomp'] as const)), ...(identity === null ? [] : (['uid'] as const))],
    holds: 'namespace',
    dies_with_worker: false,
    maps_paths: true,
    enforces_exec_once: inits !== null,
    identity,
    starter: identity,
    around_shell: [],
    launch: (confined): Launch => ({
      file: tools.unshare,
      args: [
        ...['--user', ...mapped, '--keep-caps', '--pid', '--fork', '--kill-child'],
        ...['--mount', '--propagation', 'private', '--net', '--ipc', '--uts', '--cgroup'],
        tools.sh,
        '-c',
        script(options, prepared, confined),
        'capstan',
        tools.setpriv,
        ...['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all', '--no-new-privs', '--'],
        ...beforeTool(options, confined),
        confined.file,
        ...confined.args,
      ],
      env: { ...confined.env, ...confined.secret_env },
      cwd: '/',
      ...identity,
    }),
  };
};

const beforeTool = (
  { inits, tools: { prlimit } }: NamespacesOptions,
  { limits, sockets, exec_once }: Confined,
): string[] => {
  if (inits === null) return prlimit === null ? [] : prlimitArgs(prlimit, limits);
  const order = {
    tree: 'namespace',
    terminal: false,
    descriptors: 3,
    identity: null,
    limits: rlimitsOf(limits),
  } as const;
  return [join(INITS, inits.nameOf({ ...order, filter: { sockets, exec_once }, files: null }))];
};

const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

const script = ({ tools, inits, new_root }: NamespacesOptions, prepared: string, confined: Confined): string => {
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
${[...confined.mounts, confined.work].map((one) => (one.writable ? bind(mount, one) : bindReadOnly(mount, one))).join('\n')}
${confined.loopback && ip !== null ? `${ip} link set lo up` : ''}
${pivot_root} . old
cd /
${umount} -n -l old
rmdir old
${mount} -o remount,bind,ro,nosuid,nodev /
cd ${quote(confined.work.path)}
PATH=$PATH_OF_TOOL; unset PATH_OF_TOOL OLDPWD
${inits === null ? 'set +e; "$@"; exit $?' : 'exec "$@"'}
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
