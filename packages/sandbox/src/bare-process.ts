import { join } from 'node:path';
import type { LandlockRule } from './init/landlock.js';
import type { Inits } from './init/open-inits.js';
import { prlimitArgs, rlimitsOf } from './resource-limits.js';
import type { Confined, Identity, Launch, Sandbox } from './sandbox.js';
import { PUBLIC_FILES, TERMINALS } from './system-view.js';

export type BareProcessOptions = { prlimit: string | null; inits: Inits | null; identity: Identity };

/**
 * The weakest level: a clean environment, limits and, if the worker is root, a user for each tenant. Where our `init` works, it
 * keeps hold of all descendants and filters system calls, among them those that reach other programs by a name. Where the kernel
 * has Landlock, the tool reaches only the files that it would see in a sandbox. Without them it sees the machine as its user does,
 * and can leave its process group.
 */
export const createBareProcess = ({ prlimit, inits, identity }: BareProcessOptions): Sandbox => {
  const common = { level: 'process', maps_paths: false, identity, around_shell: [] } as const;
  const uid = identity === null ? [] : (['uid'] as const);
  if (inits === null)
    return {
      ...common,
      features: uid,
      holds: 'group',
      dies_with_worker: false,
      enforces_exec_once: false,
      starter: identity,
      launch: ({ file, args, env, secret_env, work, limits }): Launch => {
        const [first = file, ...rest] = [...(prlimit === null ? [] : prlimitArgs(prlimit, limits)), file, ...args];
        return { file: first, args: rest, env: { ...env, ...secret_env }, cwd: work.source, ...identity };
      },
    };
  return {
    ...common,
    features: ['seccomp', ...(inits.landlock_abi > 0 ? (['landlock'] as const) : []), ...uid],
    holds: 'descendants',
    dies_with_worker: true,
    starter: null,
    // Otherwise the tool's user owns the files of `init` and could make them readable.
    enforces_exec_once: identity !== null || inits.landlock_abi > 0,
    launch: (confined): Launch => {
      const init = inits.nameOf({
        tree: 'descendants',
        terminal: confined.tty,
        descriptors: 3,
        identity,
        limits: rlimitsOf(confined.limits),
        filter: {
          sockets: confined.sockets,
          shares_machine: true,
          shares_user: identity === null,
          exec_once: confined.exec_once,
        },
        files: filesOf(confined, identity),
      });
      return {
        file: join(inits.directory, init),
        args: [confined.file, ...confined.args],
        env: { ...confined.env, ...confined.secret_env },
        cwd: confined.work.source,
      };
    },
  };
};

/** The files that Landlock permits: the system, the mounts of the run, and its own directories. */
const filesOf = ({ work, mounts, temporary }: Confined, identity: Identity): LandlockRule[] => [
  ...PUBLIC_FILES,
  // The terminals of the worker's user, of which one may be the operator's, are open to all processes of that user.
  ...(identity === null ? [] : TERMINALS),
  ...mounts.map(({ source, writable }) => ({
    path: source,
    access: writable ? ('write' as const) : ('read' as const),
  })),
  // The directory that it starts in.
  { path: '.', access: work.writable ? 'write' : 'read' },
  ...(temporary === null ? [] : [{ path: temporary, access: 'write' as const }]),
];
