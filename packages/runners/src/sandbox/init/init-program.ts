import type { Password } from '../seccomp/build-filter.js';
import type { Architecture } from '../seccomp/refused-calls.js';
import type { Step } from './assembler.js';
import type { Data } from './build-elf.js';
import type { Landlock } from './landlock.js';
import { landlockSteps } from './landlock-steps.js';
import { type Call, PR_SET_PDEATHSIG, SIG_SETMASK, SIGCHLD, SIGQUIT, SIGTERM, systemCall } from './system-calls.js';
import { becomeTool } from './tool-steps.js';
import { endWithStatus, LISTED_BYTES, waitForDescendants, waitInNamespace } from './wait-steps.js';

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
  /** What the filter asks for when a program is started; null: nothing. */
  password: Password | null;
  landlock: Landlock | null;
};

export type Program = { steps: readonly Step[]; data: Data };

const PR_SET_DUMPABLE = 4;
const AT_FDCWD = -100;
const O_CLOEXEC = 0x8_0000;
const PR_SET_CHILD_SUBREAPER = 36;

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
      list: Buffer.alloc(4),
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
        // Now, and not when it is wanted: there may be no descriptor left then.
        call('openat', [AT_FDCWD, { data: 'children' }, O_CLOEXEC, 0], 'c'),
        { op: 'set', to: 'd', from: { data: 'list' } } as const,
        { op: 'store', from: 'c', base: 'd', offset: 0 } as const,
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
