import { availableParallelism, release } from 'node:os';
import type { Sandbox } from './sandbox.js';

/** What one run may use. Memory is limited per process, so `processes` also bounds the total. */
export type ResourceLimits = {
  /** Address space. Generous: many programs reserve far more than they touch. */
  address_bytes: number;
  /** Private writable memory of a process. */
  memory_bytes: number;
  cpu_seconds: number;
  processes: number;
  file_bytes: number;
  open_files: number;
  /** All files in the work directory together, including deleted files that are still open. */
  directory_bytes: number;
  /** The size of /tmp, and of /dev/shm. */
  temporary_bytes: number;
};

const MIB = 1024 ** 2;

export const DEFAULT_LIMITS: Omit<ResourceLimits, 'cpu_seconds'> = {
  address_bytes: 32 * 1024 * MIB,
  memory_bytes: 2 * 1024 * MIB,
  processes: 256,
  file_bytes: 1024 * MIB,
  open_files: 4096,
  directory_bytes: 2 * 1024 * MIB,
  temporary_bytes: 256 * MIB,
};

/** For where all processes of a user count together, including those of other runs and of the user's desktop. */
const PROCESSES_OF_A_USER = 4096;

/** The default limits of a run in this sandbox. */
export const resourceLimits = ({ holds }: Pick<Sandbox, 'holds'>, timeout_ms: number): ResourceLimits => ({
  ...DEFAULT_LIMITS,
  processes: holds === 'namespace' && countsByNamespace() ? DEFAULT_LIMITS.processes : PROCESSES_OF_A_USER,
  cpu_seconds: cpuSeconds(timeout_ms),
});

/**
 * Since Linux 5.14 processes are counted per user namespace. Before, they were counted per user, so a low limit would also hit
 * processes outside the run.
 */
const countsByNamespace = (): boolean => {
  const [major = 0, minor = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
};

/** A tool may use every core until its deadline. Rounded up to a power of two, so that most runs have the same limits. */
const cpuSeconds = (timeout_ms: number): number =>
  2 ** Math.ceil(Math.log2((timeout_ms / 1000 + 1) * availableParallelism()));

/** The names of prlimit's options, and the kernel's numbers. */
const KINDS: Record<string, readonly [flag: string, number: number]> = {
  address_bytes: ['as', 9],
  memory_bytes: ['data', 2],
  cpu_seconds: ['cpu', 0],
  processes: ['nproc', 6],
  file_bytes: ['fsize', 1],
  open_files: ['nofile', 7],
};
const CORE = 4;

const set = (limits: Partial<ResourceLimits>) =>
  Object.entries(limits).flatMap(([name, value]) => {
    const kind = KINDS[name];
    return kind === undefined ? [] : [{ flag: kind[0], number: kind[1], value }];
  });

/** A prefix for a command line. prlimit sets the limits on itself and becomes the program, so it adds no process. */
export const prlimitArgs = (prlimit: string, limits: Partial<ResourceLimits>): string[] => {
  const flags = set(limits).map(({ flag, value }) => `--${flag}=${value}`);
  return flags.length === 0 ? [] : [prlimit, ...flags, '--core=0', '--'];
};

/** The same limits for `init`, which sets them itself. */
export const rlimitsOf = (limits: Partial<ResourceLimits>): (readonly [number, number])[] => [
  ...set(limits).map(({ number, value }) => [number, value] as const),
  [CORE, 0],
];
