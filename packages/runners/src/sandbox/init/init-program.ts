import type { Architecture } from '../seccomp/refused-calls.js';
import type { Operand, Register, Step } from './assembler.js';
import type { Data } from './build-elf.js';
import type { Landlock } from './landlock.js';
import { landlockSteps } from './landlock-steps.js';
import { type SystemCall, systemCall } from './system-calls.js';

export type InitOptions = {
  /** Whether it is the first process of a pid namespace, or stands in for one. */
  tree: 'namespace' | 'descendants';
  /** The tool reads from a terminal, and so must be in the foreground of it. */
  terminal: boolean;
  /** How many descriptors it inherits: standard input and output, and what a browser is spoken to through. */
  descriptors: number;
  /** Who the tool becomes; null: nobody else. */
  identity: { uid: number; gid: number } | null;
  /** Numbers of limits, and their values. */
  limits: readonly (readonly [resource: number, value: number])[];
  filter: Buffer;
  landlock: Landlock | null;
};

export type Program = { steps: readonly Step[]; data: Data };
export type Call = (name: SystemCall, args: readonly Operand[], result?: Register) => Step;

const SIGQUIT = 3;
const SIGKILL = 9;
const SIGTERM = 15;
const SIGCHLD = 17;
const SIG_SETMASK = 2;
const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const WNOHANG = 1;
const AT_FDCWD = -100;
const TIOCSPGRP = 0x5410;
const ANY = -1;
const LISTED_BYTES = 4096;

/** How it ends when the walls cannot be put up, and when the program cannot be executed. */
export const NOT_CONFINED = 125;
const NOT_EXECUTED = 126;

/**
 * The parent of a tool, and what puts the last walls up around it. It cannot be touched by the tool: nobody but the kernel may look into its
 * memory or descriptors, and a tool can neither trace it nor, in a namespace, as another user or behind Landlock, send it a
 * signal. When the tool has ended, it kills all that is left, waits until that is gone, and ends with the tool's status; so who sees
 * its end has seen the end of the run.
 *
 * In a namespace SIGKILL to it ends all. As parent of all descendants it takes SIGTERM, which it passes on, and SIGQUIT, which ends all at
 * once and also comes by itself when whoever started it is gone.
 */
export const initProgram = (options: InitOptions, architecture: Architecture): Program => {
  const call: Call = (name, args, result) => ({
    op: 'call',
    number: systemCall(name, architecture),
    arguments: args,
    result: result ?? null,
  });
  const landlock = options.landlock === null ? { steps: [], data: {} } : landlockSteps(options.landlock, call);
  return {
    steps: [
      // a: where the arguments are.
      { op: 'stack_pointer', to: 'a' },
      ...begin(call, options),
      call('clone', [SIGCHLD, 0, 0, 0, 0], 'b'),
      { op: 'branch', when: 'less', left: 'b', right: 0, to: 'unconfined' },
      { op: 'branch', when: 'equal', left: 'b', right: 0, to: 'tool' },
      ...(options.tree === 'namespace' ? waitInNamespace(call) : waitForDescendants(call)),
      ...endWithStatus(call),
      { op: 'label', name: 'tool' },
      ...becomeTool(call, options, landlock.steps),
      { op: 'label', name: 'unconfined' },
      ...fail(call, 'no_walls', NO_WALLS, NOT_CONFINED),
      { op: 'label', name: 'unexecuted' },
      ...fail(call, 'no_program', NO_PROGRAM, NOT_EXECUTED),
    ],
    data: {
      all_signals: Buffer.alloc(8, 0xff),
      no_signals: Buffer.alloc(8),
      awaited: signalSet(SIGCHLD, SIGTERM, SIGQUIT),
      default_action: Buffer.alloc(32),
      status: Buffer.alloc(4),
      group: Buffer.alloc(4),
      filter: options.filter,
      filter_program: filterProgram(options.filter),
      children: Buffer.from('/proc/thread-self/children\0'),
      no_walls: NO_WALLS,
      no_program: NO_PROGRAM,
      ...Object.fromEntries(options.limits.map(([, value], index) => [`limit_${index}`, limit(value)])),
      ...landlock.data,
      listed: options.tree === 'descendants' ? Buffer.alloc(LISTED_BYTES + 1) : Buffer.alloc(0),
    },
  };
};

const NO_WALLS = Buffer.from('capstan: the sandbox could not be made, so nothing was run\n');
const NO_PROGRAM = Buffer.from(
  'capstan: the program could not be executed: its format or interpreter is not known here\n',
);

/** Nothing else that was inherited stays open, and nobody sees what is left. */
const begin = (call: Call, { tree, terminal, descriptors }: InitOptions): Step[] => [
  ...(tree === 'namespace' ? onlyAsFirst(call) : []),
  call('close_range', [descriptors, -1, 0], 'c'),
  { op: 'branch', when: 'less', left: 'c', right: 0, to: 'unconfined' },
  call('prctl', [PR_SET_DUMPABLE, 0, 0, 0, 0]),
  // Who had it ignored would never hear of a child's end.
  call('rt_sigaction', [SIGCHLD, { data: 'default_action' }, 0, 8]),
  call('rt_sigprocmask', [SIG_SETMASK, { data: 'all_signals' }, 0, 8]),
  ...(tree === 'namespace'
    ? []
    : [
        call('prctl', [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0]),
        call('prctl', [PR_SET_PDEATHSIG, SIGQUIT, 0, 0, 0]),
        // Out of reach of a signal to the group of whoever started it: it goes last.
        terminal ? call('setpgid', [0, 0]) : call('setsid', []),
      ]),
];

/** The signal that ends a namespace would end the whole machine if this were not the first process of one. */
const onlyAsFirst = (call: Call): Step[] => [
  call('getpid', [], 'c'),
  { op: 'branch', when: 'not_equal', left: 'c', right: 1, to: 'unconfined' },
];

const waitInNamespace = (call: Call): Step[] => [
  { op: 'label', name: 'wait' },
  call('wait4', [ANY, { data: 'status' }, 0, 0], 'd'),
  { op: 'branch', when: 'not_equal', left: 'd', right: 'b', to: 'wait' },
  ...loadStatus(),
  call('kill', [ANY, SIGKILL]),
  { op: 'label', name: 'reap' },
  call('wait4', [ANY, 0, 0, 0], 'd'),
  { op: 'branch', when: 'at_least', left: 'd', right: 0, to: 'reap' },
];

/** c: the tool's status. Until it has ended by itself it was killed. */
const waitForDescendants = (call: Call): Step[] => [
  { op: 'set', to: 'c', from: SIGKILL },
  { op: 'label', name: 'listen' },
  call('rt_sigtimedwait', [{ data: 'awaited' }, 0, 0, 8], 'd'),
  { op: 'branch', when: 'equal', left: 'd', right: SIGQUIT, to: 'sweep' },
  { op: 'branch', when: 'equal', left: 'd', right: SIGTERM, to: 'pass_on' },
  { op: 'label', name: 'who' },
  call('wait4', [ANY, { data: 'status' }, WNOHANG, 0], 'd'),
  { op: 'branch', when: 'less', left: 'd', right: 1, to: 'listen' },
  { op: 'branch', when: 'not_equal', left: 'd', right: 'b', to: 'who' },
  ...loadStatus(),
  { op: 'jump', to: 'sweep' },
  { op: 'label', name: 'pass_on' },
  { op: 'set', to: 'd', from: 'b' },
  { op: 'negate', to: 'd' },
  call('kill', ['d', SIGTERM]),
  { op: 'jump', to: 'listen' },
  ...sweep(call),
];

/** Kills its children and waits for one of them, until there is none: children of those become its own when they die. */
const sweep = (call: Call): Step[] => [
  { op: 'label', name: 'sweep' },
  call('openat', [AT_FDCWD, { data: 'children' }, 0, 0], 'd'),
  { op: 'branch', when: 'less', left: 'd', right: 0, to: 'without_list' },
  call('read', ['d', { data: 'listed' }, LISTED_BYTES], 'e'),
  call('close', ['d']),
  { op: 'branch', when: 'less', left: 'e', right: 0, to: 'without_list' },
  // f: the next character; e: their end; d: the number so far.
  { op: 'set', to: 'f', from: { data: 'listed' } },
  { op: 'add', to: 'e', value: 'f' },
  { op: 'set', to: 'd', from: 0 },
  { op: 'label', name: 'character' },
  { op: 'branch', when: 'at_least', left: 'f', right: 'e', to: 'reap' },
  { op: 'load', to: 'a', base: 'f', offset: 0, bytes: 1 },
  { op: 'add', to: 'f', value: 1 },
  { op: 'branch', when: 'equal', left: 'a', right: SPACE, to: 'kill' },
  { op: 'add', to: 'a', value: -ZERO },
  { op: 'times_ten', to: 'd' },
  { op: 'add', to: 'd', value: 'a' },
  { op: 'jump', to: 'character' },
  { op: 'label', name: 'kill' },
  call('kill', ['d', SIGKILL]),
  { op: 'set', to: 'd', from: 0 },
  { op: 'jump', to: 'character' },
  { op: 'label', name: 'without_list' },
  { op: 'set', to: 'd', from: 'b' },
  { op: 'negate', to: 'd' },
  call('kill', ['d', SIGKILL]),
  { op: 'label', name: 'reap' },
  call('wait4', [ANY, { data: 'status' }, 0, 0], 'd'),
  { op: 'branch', when: 'less', left: 'd', right: 0, to: 'done' },
  { op: 'jump', to: 'sweep' },
  { op: 'label', name: 'done' },
];

const SPACE = 32;
const ZERO = 48;

const loadStatus = (): Step[] => [
  { op: 'set', to: 'c', from: { data: 'status' } },
  { op: 'load', to: 'c', base: 'c', offset: 0, bytes: 4 },
];

/** As shells tell of it: the exit code, or 128 and the number of the signal. */
const endWithStatus = (call: Call): Step[] => [
  { op: 'set', to: 'd', from: 'c' },
  { op: 'keep_low', to: 'd', bits: 7 },
  { op: 'branch', when: 'not_equal', left: 'd', right: 0, to: 'signaled' },
  { op: 'shift_right', to: 'c', bits: 8 },
  { op: 'keep_low', to: 'c', bits: 8 },
  call('exit_group', ['c']),
  { op: 'label', name: 'signaled' },
  { op: 'add', to: 'd', value: 128 },
  call('exit_group', ['d']),
];

const becomeTool = (
  call: Call,
  { tree, terminal, identity, limits, filter }: InitOptions,
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
  // One that is refused was to be raised above the limit that is there already, which is stricter.
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
    // Should `init` be killed after all. A change of user would have taken it back.
    ...(tree === 'namespace' ? [] : [call('prctl', [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0])]),
    call('prctl', [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], 'd'),
    orNothing,
    ...landlock,
    call('rt_sigprocmask', [SIG_SETMASK, { data: 'no_signals' }, 0, 8]),
    // d: arguments without the first, which is this program's own name; e: the variables behind them.
    { op: 'load', to: 'f', base: 'a', offset: 0, bytes: 8 },
    { op: 'shift_left', to: 'f', bits: 3 },
    { op: 'set', to: 'e', from: 'a' },
    { op: 'add', to: 'e', value: 'f' },
    { op: 'add', to: 'e', value: 16 },
    { op: 'load', to: 'c', base: 'a', offset: 16, bytes: 8 },
    { op: 'add', to: 'a', value: 16 },
    ...installFilter(call, filter),
    call('execve', ['c', 'a', 'e'], 'd'),
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

const fail = (call: Call, name: string, message: Buffer, code: number): Step[] => [
  call('write', [2, { data: name }, message.length]),
  call('exit_group', [code]),
];

/** `struct sock_fprog`; where the filter is, is filled in at run time. */
const filterProgram = (filter: Buffer): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(filter.length / 8);
  return bytes;
};

/** `struct rlimit`, the same below and above. */
const limit = (value: number): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(BigInt(value));
  bytes.writeBigUInt64LE(BigInt(value), 8);
  return bytes;
};

const signalSet = (...signals: number[]): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(signals.reduce((set, signal) => set | (1 << (signal - 1)), 0) >>> 0);
  return bytes;
};
