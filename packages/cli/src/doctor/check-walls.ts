import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../io.js';
import type { Check } from './check.js';

/** The protections of the kernel, the worker and other tools besides the sandbox. They are tried out. */
export const checkWalls = async (env: Io['env']): Promise<Check[]> => {
  const { openInits, defaultRange } = await import('@capstan/worker');
  const directory = mkdtempSync(join(env.CAPSTAN_WORK_DIR ?? tmpdir(), 'capstan-doctor-'));
  try {
    const inits = openInits(directory);
    return [
      seccompCheck(inits !== null),
      landlockCheck(inits?.landlock_abi ?? 0),
      usersCheck(process.getuid?.() === 0, () => env.CAPSTAN_TOOL_UIDS ?? textOf(defaultRange())),
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
};

export const seccompCheck = (works: boolean): Check =>
  works
    ? { name: 'seccomp', state: 'ok', found: 'the system calls of tools are filtered' }
    : {
        name: 'seccomp',
        state: 'absent',
        found: 'no filter: tools may make any system call, and at the level process they may outlive their run',
        advice:
          'Needs Linux 5.9 or newer on x86-64 or arm64, and a work directory whose file system is not mounted noexec (CAPSTAN_WORK_DIR).',
      };

/** The first version that covers signals. */
const WITH_SIGNALS = 6;

export const landlockCheck = (abi: number): Check =>
  abi > 0
    ? {
        name: 'Landlock',
        state: 'ok',
        found: `version ${abi}${abi < WITH_SIGNALS ? ': at the level process it covers files, but not signals to other processes (Linux 6.12)' : ''}`,
      }
    : {
        name: 'Landlock',
        state: 'absent',
        found: 'not in this kernel: at the level process tools reach every file that their user does',
        advice: 'Optional: Linux 5.13 or newer with landlock among its security modules (lsm=landlock,… at boot).',
      };

export const usersCheck = (is_root: boolean, range: () => string): Check =>
  is_root
    ? { name: 'users', state: 'ok', found: `the tools of each tenant have a user of their own, of ${range()}` }
    : {
        name: 'users',
        state: 'absent',
        found: "tools of all tenants run as the worker's user",
        advice: 'Optional: a worker that is root gives each tenant a user of its own (CAPSTAN_TOOL_UIDS).',
      };

const textOf = ({ first, last }: { first: number; last: number }): string => `${first}-${last}`;
