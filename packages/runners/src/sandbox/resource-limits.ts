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
  temporary_bytes: 256 * MIB,
};

/** A tool may use every core until its deadline. In powers of two, so that most runs have the same limits. */
export const cpuSeconds = (timeout_ms: number): number =>
  2 ** Math.ceil(Math.log2((timeout_ms / 1000 + 1) * availableParallelism()));

const FLAGS: Record<string, string> = {
  address_bytes: 'as',
  memory_bytes: 'data',
  cpu_seconds: 'cpu',
  processes: 'nproc',
  file_bytes: 'fsize',
  open_files: 'nofile',
};

/** In front of a command line: prlimit sets the limits on itself and becomes the program, so there is no process more. */
export const prlimitArgs = (prlimit: string, limits: Partial<ResourceLimits>): string[] => {
  const flags = Object.entries(limits).flatMap(([name, value]) => (name in FLAGS ? [`--${FLAGS[name]}=${value}`] : []));
  return flags.length === 0 ? [] : [prlimit, ...flags, '--core=0', '--'];
};
