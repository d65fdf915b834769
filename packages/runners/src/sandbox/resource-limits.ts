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

/** A tool may use every core until its deadline. */
export const cpuSeconds = (timeout_ms: number): number => Math.ceil(timeout_ms / 1000 + 1) * availableParallelism();

/** In front of a command line: prlimit sets the limits on itself and becomes the program, so there is no process more. */
export const prlimitArgs = (prlimit: string, limits: ResourceLimits): string[] => [
  prlimit,
  `--as=${limits.address_bytes}`,
  `--data=${limits.memory_bytes}`,
  `--cpu=${limits.cpu_seconds}`,
  `--nproc=${limits.processes}`,
  `--fsize=${limits.file_bytes}`,
  `--nofile=${limits.open_files}`,
  '--core=0',
  '--',
];
