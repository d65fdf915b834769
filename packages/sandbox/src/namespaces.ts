import { join } from 'node:path';
import { namespaceInit } from './init/namespace-init.js';
import type { Inits } from './init/open-inits.js';
import { prlimitArgs } from './resource-limits.js';
import type { Confined, Identity, Launch, Mount, Sandbox } from './sandbox.js';
import type { SystemPart } from './system-view.js';
import { NOBODY } from './tool-users.js';

/** Paths of programs from util-linux (or busybox), looked up once. */
export type NamespaceTools = {
  unshare: string;
  sh: string;
  mount: string;
  umount: string;
  pivot_root: string;
  setpriv: string;
  prlimit: string | null;
  /** Brings up the loopback interface. Without it there is no network at this level. */
  ip: string | null;
};

export type NamespacesOptions = {
  tools: NamespaceTools;
  /** Null: the script stays pid 1, and there is no seccomp filter. */
  inits: Inits | null;
  system: readonly SystemPart[];
  identity: Identity;
  /** An empty directory where each run assembles the tool's root, in its own mount namespace. */
  new_root: string;
};

/**
 * The level for machines without bubblewrap. `unshare` creates the namespaces. A small script inside assembles the same view of
 * the system, leaves the old root, drops all capabilities and becomes our `init`, which starts the tool. `init` is pid 1: when
 * it or `unshare` exits, the kernel kills everything that is left.
 */
export const createNamespaces = (options: NamespacesOptions): Sandbox => {
  const { tools, inits, system, identity } = options;
  const prepared = system.map((part) => place(tools, part)).join('\n');
  // Inside the sandbox every tenant's user appears as `nobody`, which /etc/passwd knows.
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

const beforeTool = ({ inits, tools: { prlimit } }: NamespacesOptions, confined: Confined): string[] => {
  if (inits !== null) return [namespaceInit(inits, confined)];
  return prlimit === null ? [] : prlimitArgs(prlimit, confined.limits);
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
