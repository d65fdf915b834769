import type { Architecture } from '../seccomp/refused-calls.js';
import type { Operand, Register, Step } from './assembler.js';

/** The system calls that `init` makes, with their numbers on x86-64 and arm64. */
const NUMBERS = {
  write: [1, 64],
  rt_sigaction: [13, 134],
  pread64: [17, 67],
  rt_sigprocmask: [14, 135],
  ioctl: [16, 29],
  getpid: [39, 172],
  clone: [56, 220],
  execve: [59, 221],
  wait4: [61, 260],
  kill: [62, 129],
  setpgid: [109, 154],
  setsid: [112, 157],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  rt_sigtimedwait: [128, 137],
  prctl: [157, 167],
  exit_group: [231, 94],
  openat: [257, 56],
  prlimit64: [302, 261],
  seccomp: [317, 277],
  close_range: [436, 436],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const;

export type SystemCall = keyof typeof NUMBERS;

/** Creates a step that makes a system call on the target architecture. */
export type Call = (name: SystemCall, args: readonly Operand[], result?: Register) => Step;

export const SIGQUIT = 3;
export const SIGKILL = 9;
export const SIGTERM = 15;
export const SIGCHLD = 17;
export const SIG_SETMASK = 2;
export const PR_SET_PDEATHSIG = 1;

export const systemCall = (name: SystemCall, architecture: Architecture): number =>
  NUMBERS[name][architecture === 'x64' ? 0 : 1];
