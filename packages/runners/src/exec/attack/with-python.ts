import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { onEachLevel, stdoutOf, type TestExec } from '../testing/on-each-level.js';

/** Attacks make system calls by number, which needs a language that supports it. */
const PYTHON = '/usr/bin/python3';
const has_python = process.platform === 'linux' && existsSync(PYTHON);

/** Raw system calls: returns the result, or the name of the error. */
const PRELUDE = `
import ctypes, errno, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return errno.errorcode.get(ctypes.get_errno(), '?') if result == -1 else result
`;

export type Attack = TestExec & {
  /** The output of an attack in Python, without the last line break. */
  attack(script: string): Promise<string>;
};

/** Runs the same attacks at each sandbox level. */
export const attackEachLevel = (tests: (attack: Attack) => void): void => {
  const name = has_python ? 'attacks' : `NOT TESTED: attacks need ${PYTHON}`;
  describe.skipIf(!has_python)(name, () => {
    onEachLevel((exec) => {
      const attack = async (script: string) => stdoutOf(await exec.run([PYTHON, '-c', PRELUDE + script])).trimEnd();
      tests({
        ...exec,
        get work_dir() {
          return exec.work_dir;
        },
        get runner() {
          return exec.runner;
        },
        attack,
      });
    });
  });
};
