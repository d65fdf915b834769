import { namespaceInit } from './init/namespace-init.js';
import type { Inits } from './init/open-inits.js';
import { prlimitArgs } from './resource-limits.js';
import type { Confined, Identity, Launch, Mount, Sandbox } from './sandbox.js';
import type { SystemPart } from './system-view.js';
import { NOBODY } from './tool-users.js';

export type BubblewrapOptions = {
  bwrap: string;
  prlimit: string | null;
  /** Null: pid 1 is bubblewrap's own process, and there is no seccomp filter. */
  inits: Inits | null;
  system: readonly SystemPart[];
  identity: Identity;
  /** Refuses further user namespaces inside. Older versions of bubblewrap cannot. */
  disable_userns: boolean;
  /** Whether a sandbox can be created inside another; some systems refuse it. */
  nests: boolean;
};

/**
 * The strongest level. The arguments that all runs share are built once. bubblewrap's own environment contains nothing but the
 * tool's secret variables, because a tool can read it in /proc/1/environ.
 */
export const createBubblewrap = (options: BubblewrapOptions): Sandbox => {
  const prepared = prepare(options);
  const { identity, inits } = options;
  return {
    level: 'bubblewrap',
    features: [...(inits === null ? [] : (['seccomp'] as const)), ...(identity === null ? [] : (['uid'] as const))],
    holds: 'namespace',
    dies_with_worker: true,
    maps_paths: true,
    enforces_exec_once: inits !== null,
    identity,
    starter: identity,
    around_shell: options.nests ? aroundShell(options) : [],
    launch: (confined): Launch => ({
      file: options.bwrap,
      args: [
        ...prepared,
        ...(options.nests && confined.network === 'of_shell' ? [] : ['--unshare-net']),
        ...(confined.tty ? [] : ['--new-session']),
        ...temporary(confined),
        ...[...confined.mounts, confined.work].flatMap((one) => (one.writable ? writable(one) : readOnly(one))),
        // The parent directories of the mounts are in memory: read-only, so that a tool cannot fill it.
        '--remount-ro',
        '/',
        '--remount-ro',
        '/dev',
        '--chdir',
        confined.work.path,
        ...Object.entries(confined.env).flatMap(([name, value]) => ['--setenv', name, value]),
        ...beforeTool(options, confined),
        confined.file,
        ...confined.args,
      ],
      env: confined.secret_env,
      cwd: '/',
      ...identity,
    }),
  };
};

/** Our `init` is pid 1 instead of bubblewrap's own process, which a tool could trace and take over. */
const beforeTool = ({ inits, prlimit }: BubblewrapOptions, confined: Confined): string[] =>
  inits === null
    ? ['--', ...(prlimit === null ? [] : prlimitArgs(prlimit, confined.limits))]
    : ['--as-pid-1', '--', namespaceInit(inits, confined)];

const prepare = ({ system, identity, disable_userns }: BubblewrapOptions): string[] => [
  // Inside the sandbox every tenant's user appears as `nobody`, which /etc/passwd knows.
  ...(identity === null ? [] : ['--uid', `${NOBODY}`, '--gid', `${NOBODY}`]),
  ...['user', 'pid', 'ipc', 'uts'].map((namespace) => `--unshare-${namespace}`),
  '--unshare-cgroup-try',
  ...(disable_userns ? ['--disable-userns'] : []),
  '--die-with-parent',
  '--hostname',
  'capstan',
  ...system.flatMap((part) => (part.symlink ? ['--symlink', part.source, part.path] : readOnly(part))),
  '--proc',
  '/proc',
  '--dev',
  '/dev',
];

/**
 * The kernel needs 1.4 ms to create and remove an empty network namespace. So all runs of one shell, which belong to one tenant,
 * use the same one in turn. No run has rights over it: its owner is the user namespace outside.
 */
const aroundShell = ({ bwrap }: BubblewrapOptions): string[] => [
  bwrap,
  ...['--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--'],
];

const temporary = ({ limits }: Confined): string[] =>
  ['/dev/shm', '/tmp'].flatMap((path) => ['--size', `${limits.temporary_bytes}`, '--tmpfs', path]);

const writable = ({ source, path }: Mount): string[] => ['--bind', source, path];
const readOnly = ({ source, path }: Mount): string[] => ['--ro-bind', source, path];
