import { availableParallelism } from 'node:os';

/** What one run may use. Memory is counted by process, so `processes` bounds it as well. */
export type ResourceLimits = {
  /** Address space. Generous: many programs reserve far more than they touch. */
  address_bytes: number;
  /** Memory that a process can write to and shares with nobody. */
  memory_bytes: number;
  cpu_seconds: number;
  processes: number;
  file_bytes: number;
  open_files: number;
  /** Of all files in the work directory together, and of those that were removed from it and are still open. */
  directory_bytes: number;
  /** Of /tmp, and of /dev/shm. */
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

/** A tool may use every core until its deadline. In powers of two, so that most runs have the same limits. */
export const cpuSeconds = (timeout_ms: number): number =>
  2 ** Math.ceil(Math.log2((timeout_ms / 1000 + 1) * availableParallelism()));

/** The names that prlimit has for them, and the kernel's numbers. */
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

/** In front of a command line: prlimit sets the limits on itself and becomes the program, so there is no process more. */
export const prlimitArgs = (prlimit: string, limits: Partial<ResourceLimits>): string[] => {
  const flags = set(limits).map(({ flag, value }) => `--${flag}=${value}`);
  return flags.length === 0 ? [] : [prlimit, ...flags, '--core=0', '--'];
};

/** The same for `init`, which sets them itself. */
export const rlimitsOf = (limits: Partial<ResourceLimits>): (readonly [number, number])[] => [
  ...set(limits).map(({ number, value }) => [number, value] as const),
  [CORE, 0],
];
