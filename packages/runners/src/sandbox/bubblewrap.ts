import { join } from 'node:path';
import type { Inits } from './init/open-inits.js';
import { prlimitArgs, rlimitsOf } from './resource-limits.js';
import type { Confined, Identity, Launch, Mount, Sandbox } from './sandbox.js';
import { INITS, type SystemPart } from './system-view.js';
import { NOBODY } from './tool-users.js';

export type BubblewrapOptions = {
  bwrap: string;
  prlimit: string | null;
  /** Null: bubblewrap's own first process has to do, and there is no filter of system calls. */
  inits: Inits | null;
  system: readonly SystemPart[];
  identity: Identity;
  /** Further namespaces inside are refused; older bubblewraps cannot do it. */
  disable_userns: boolean;
  /** Sandboxes can be made inside of sandboxes; some systems refuse it. */
  nests: boolean;
};

/**
 * The strongest level. What is the same for every run is prepared once. bubblewrap itself gets no environment: what it
 * was started with can be read inside in /proc/1/environ.
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
        // The directories made on the way to all of these are in memory, and may not be filled.
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

/** `init` is the first process of the namespace in place of bubblewrap's own, which a tool could trace and take over. */
const beforeTool = ({ inits, prlimit }: BubblewrapOptions, { limits, sockets, exec_once }: Confined): string[] => {
  if (inits === null) return ['--', ...(prlimit === null ? [] : prlimitArgs(prlimit, limits))];
  const order = {
    tree: 'namespace',
    terminal: false,
    descriptors: 3,
    identity: null,
    limits: rlimitsOf(limits),
  } as const;
  return ['--as-pid-1', '--', join(INITS, inits.nameOf({ ...order, filter: { sockets, exec_once }, files: null }))];
};

const prepare = ({ system, identity, disable_userns }: BubblewrapOptions): string[] => [
  // Inside it has the name that /etc/passwd knows, whichever tenant's it is.
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
 * An empty network takes the kernel 1.4 ms to make and to take apart, so the runs of a shell, all of one tenant, have the same
 * one after the other. No run has rights over it: it belongs to the user namespace outside.
 */
const aroundShell = ({ bwrap }: BubblewrapOptions): string[] => [
  bwrap,
  ...['--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--'],
];

const temporary = ({ limits }: Confined): string[] =>
  ['/dev/shm', '/tmp'].flatMap((path) => ['--size', `${limits.temporary_bytes}`, '--tmpfs', path]);

const writable = ({ source, path }: Mount): string[] => ['--bind', source, path];
const readOnly = ({ source, path }: Mount): string[] => ['--ro-bind', source, path];
