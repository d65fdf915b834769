import { type Password, placesOf } from '../seccomp/build-filter.js';
import type { Architecture } from '../seccomp/refused-calls.js';
import type { Step } from './assembler.js';
import type { Data } from './build-elf.js';
import type { Landlock } from './landlock.js';
import { landlockSteps } from './landlock-steps.js';
import { type Call, PR_SET_PDEATHSIG, SIG_SETMASK, SIGCHLD, SIGQUIT, SIGTERM, systemCall } from './system-calls.js';
import { becomeTool } from './tool-steps.js';
import { endWithStatus, LISTED_BYTES, waitForDescendants, waitInNamespace } from './wait-steps.js';

export type InitOptions = {
  /** Whether it is pid 1 of a pid namespace, or takes that role as the subreaper of its descendants. */
  tree: 'namespace' | 'descendants';
  /** The tool reads from a terminal, so it must be the terminal's foreground process group. */
  terminal: boolean;
  /** How many descriptors it inherits: the standard streams, and for a browser those of its control pipe. */
  descriptors: number;
  /** The user that the tool switches to. Null: no switch. */
  identity: { uid: number; gid: number } | null;
  /** The kernel's numbers of the limits, and their values. */
  limits: readonly (readonly [resource: number, value: number])[];
  filter: Buffer;
  /** What the filter requires in an `execve`. Null: nothing. */
  password: Password | null;
  landlock: Landlock | null;
};

export type Program = { steps: readonly Step[]; data: Data };

const PR_SET_DUMPABLE = 4;
const AT_FDCWD = -100;
const O_CLOEXEC = 0x8_0000;
const PR_SET_CHILD_SUBREAPER = 36;

/** Exit codes: the sandbox could not be set up; the program could not be executed. */
const NOT_CONFINED = 125;
const NOT_EXECUTED = 126;

/**
 * The parent of a tool. It sets up the last parts of the sandbox, and the tool cannot touch it: nobody but the kernel can read its
 * memory or descriptors, and a tool can neither trace it nor, in a namespace, as another user or under Landlock, signal it.
 * When the tool exits, `init` kills everything that is left, waits until it is gone, and exits with the tool's status. So when
 * `init` has exited, the run is over.
 *
 * In a namespace, SIGKILL to `init` ends everything. As a subreaper, it passes SIGTERM on to the tool; SIGQUIT ends everything at
 * once, and the kernel sends it when the process that started `init` is gone.
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
      // a: the address of the arguments.
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

/** Closes all other inherited descriptors, and makes the process unreadable for others. */
const begin = (call: Call, { tree, terminal, descriptors, filter }: InitOptions): Step[] => [
  ...nameItself(call, filter),
  ...(tree === 'namespace' ? onlyAsFirst(call) : []),
  call('close_range', [descriptors, -1, 0], 'c'),
  { op: 'branch', when: 'less', left: 'c', right: 0, to: 'unconfined' },
  call('prctl', [PR_SET_DUMPABLE, 0, 0, 0, 0]),
  // If SIGCHLD was inherited as ignored, it would never learn that a child exited.
  call('rt_sigaction', [SIGCHLD, { data: 'default_action' }, 0, 8]),
  call('rt_sigprocmask', [SIG_SETMASK, { data: 'all_signals' }, 0, 8]),
  ...(tree === 'namespace'
    ? []
    : [
        // Opened now, because there may be no free descriptor when it is needed.
        call('openat', [AT_FDCWD, { data: 'children' }, O_CLOEXEC, 0], 'c'),
        { op: 'set', to: 'd', from: { data: 'list' } } as const,
        { op: 'store', from: 'c', base: 'd', offset: 0 } as const,
        call('prctl', [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0]),
        call('prctl', [PR_SET_PDEATHSIG, SIGQUIT, 0, 0, 0]),
        // A signal to the process group of its starter must not reach it: it has to exit last.
        terminal ? call('setpgid', [0, 0]) : call('setsid', []),
      ]),
];

/** Writes its own number into the filter that is to protect it. */
const nameItself = (call: Call, filter: Buffer): Step[] => {
  const { init, group } = placesOf(filter);
  if (init.length === 0) return [];
  const write = (places: readonly number[]): Step[] =>
    places.map((offset) => ({ op: 'store', from: 'c', base: 'd', offset }));
  return [
    { op: 'set', to: 'd', from: { data: 'filter' } },
    call('getpid', [], 'c'),
    ...write(init),
    { op: 'negate', to: 'c' },
    ...write(group),
  ];
};

/** Refuses to run unless it is pid 1: outside a namespace of its own, its `kill(-1)` would kill everything on the machine. */
const onlyAsFirst = (call: Call): Step[] => [
  call('getpid', [], 'c'),
  { op: 'branch', when: 'not_equal', left: 'c', right: 1, to: 'unconfined' },
];

const fail = (call: Call, name: string, message: Buffer, code: number): Step[] => [
  call('write', [2, { data: name }, message.length]),
  call('exit_group', [code]),
];

/** `struct sock_fprog`. The address of the filter is filled in at run time. */
const filterProgram = (filter: Buffer): Buffer => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(filter.length / 8);
  return bytes;
};

/** `struct rlimit`, with equal soft and hard limits. */
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
