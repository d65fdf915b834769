import type { Step } from './assembler.js';
import type { InitOptions } from './init-program.js';
import { type Call, PR_SET_PDEATHSIG, SIG_SETMASK, SIGKILL } from './system-calls.js';

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const TIOCSPGRP = 0x5410;

/** Runs in the child: drops what the tool must not have, and becomes the tool. a: the address of the arguments. */
export const becomeTool = (
  call: Call,
  { tree, terminal, identity, limits, filter, password }: InitOptions,
  landlock: Step[],
): Step[] => {
  const orNothing: Step = { op: 'branch', when: 'less', left: 'd', right: 0, to: 'unconfined' };
  const own_group = terminal
    ? [
        call('setpgid', [0, 0]),
        call('getpid', [], 'd'),
        { op: 'set', to: 'e', from: { data: 'group' } } as const,
        { op: 'store', from: 'd', base: 'e', offset: 0 } as const,
        call('ioctl', [0, TIOCSPGRP, { data: 'group' }]),
      ]
    : [call('setsid', [])];
  // Results are not checked: the kernel only refuses to raise a limit above the current one, which is stricter.
  const limited = limits.map(([resource], index) => call('prlimit64', [0, resource, { data: `limit_${index}` }, 0]));
  const become =
    identity === null
      ? []
      : [
          call('setgroups', [0, 0], 'd'),
          orNothing,
          call('setresgid', [identity.gid, identity.gid, identity.gid], 'd'),
          orNothing,
          call('setresuid', [identity.uid, identity.uid, identity.uid], 'd'),
          orNothing,
        ];
  return [
    ...(tree === 'namespace' ? [] : own_group),
    ...limited,
    ...become,
    // In case `init` is killed after all. Set after the change of user, which would have cleared it.
    ...(tree === 'namespace' ? [] : [call('prctl', [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0])]),
    call('prctl', [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], 'd'),
    orNothing,
    ...landlock,
    call('rt_sigprocmask', [SIG_SETMASK, { data: 'no_signals' }, 0, 8]),
    // c: the program; a: its arguments, without this program's own name; e: the variables behind them.
    { op: 'load', to: 'f', base: 'a', offset: 0, bytes: 8 },
    { op: 'shift_left', to: 'f', bits: 3 },
    { op: 'set', to: 'e', from: 'a' },
    { op: 'add', to: 'e', value: 'f' },
    { op: 'add', to: 'e', value: 16 },
    { op: 'load', to: 'c', base: 'a', offset: 16, bytes: 8 },
    { op: 'add', to: 'a', value: 16 },
    ...installFilter(call, filter),
    call('execve', ['c', 'a', 'e', ...(password ?? [])], 'd'),
    { op: 'jump', to: 'unexecuted' },
  ];
};

const installFilter = (call: Call, filter: Buffer): Step[] =>
  filter.length === 0
    ? []
    : [
        { op: 'set', to: 'd', from: { data: 'filter' } },
        { op: 'set', to: 'f', from: { data: 'filter_program' } },
        { op: 'store', from: 'd', base: 'f', offset: 8 },
        call('seccomp', [SECCOMP_SET_MODE_FILTER, 0, { data: 'filter_program' }], 'd'),
        { op: 'branch', when: 'less', left: 'd', right: 0, to: 'unconfined' },
      ];
