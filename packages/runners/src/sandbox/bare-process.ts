import { prlimitArgs } from './resource-limits.js';
import type { Identity, Launch, Sandbox } from './sandbox.js';

/**
 * The weakest level: a clean environment, limits and, under a worker that is root, a user without rights. The tool sees
 * the machine as that user does, and children that leave the process group are not held.
 */
export const createBareProcess = ({ prlimit, identity }: { prlimit: string | null; identity: Identity }): Sandbox => {
  const root = { ...identity };
  return {
    level: 'process',
    holds_tree: false,
    dies_with_worker: false,
    maps_paths: false,
    identity,
    around_shell: [],
    launch: ({ file, args, env, secret_env, work, limits }): Launch => {
      const [first = file, ...rest] = [...(prlimit === null ? [] : prlimitArgs(prlimit, limits)), file, ...args];
      return { file: first, args: rest, env: { ...env, ...secret_env }, cwd: work.source, ...root };
    },
  };
};
