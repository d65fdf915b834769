import {
  ALLOW,
  ARCHITECTURE,
  answer,
  argument,
  encode,
  errno,
  type Instruction,
  KILL_PROCESS,
  load,
  NUMBER,
  unless,
  upperHalf,
  when,
} from './bpf.js';
import {
  type Architecture,
  BY_DESCRIPTOR,
  EXECVEAT,
  FOR_OWN_SANDBOX,
  LAST_KNOWN,
  LOOKED_INTO,
  NOT_THERE,
  numberOf,
  OF_THE_MACHINE,
  REFUSED,
  SCHEDULING,
  SIGNALS,
} from './refused-calls.js';

export type FilterOptions = {
  /** Which sockets may be created: only Unix sockets, or internet sockets as well. */
  sockets: 'unix' | 'inet';
  /**
   * Where the process shares the IPC and network namespaces of the machine: refuses what reaches other programs there by a name.
   * Of Unix sockets only pairs are left, because a filter cannot read which address a socket connects to.
   */
  shares_machine?: boolean;
  /**
   * Where the process has the user of `init` and of the worker: refuses signals to `init`, which Landlock prevents only since
   * version 6, and changes to how other processes are scheduled. `init` fills in its own number: see `placesOf`.
   */
  shares_user?: boolean;
  /** For a program that creates its own sandbox inside: a browser. */
  own_sandbox?: boolean;
  /** Refuses to start another program: `execve` must carry this password in arguments that it does not otherwise use. */
  exec_once?: Password;
};

/** Each number is below 2 ** 31. */
export type Password = readonly [number, number, number];

/** The values that the kernel passes to a filter. */
const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** Linux's numbers, whatever system this runs on. */
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** Flags of clone for new mount, cgroup, uts, ipc, user, pid and network namespaces. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** ioctls that insert input into a terminal, where another program may read it as commands. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** What stands for the number of `init`, and for its process group, until they are known. No other value is as high. */
const INIT = 0xfffe_0001;
const GROUP_OF_INIT = 0xfffe_0002;
const EVERYBODY = 0xffff_ffff;
/** They let the kernel send a signal of the caller's choice to another process when there is something to read. */
const F_SETOWN = 8;
const F_SETSIG = 10;
const F_SETOWN_EX = 15;
const FIOSETOWN = 0x8901;
const SIOCSPGRP = 0x8902;
const OF_PROCESS = { setpriority: 0, ioprio_set: 1 } as const;
/** The bit that SOCK_DGRAM and SOCK_RAW have, and SOCK_STREAM and SOCK_SEQPACKET do not. */
const DATAGRAMS = 2;
const ITSELF = 0;
const NOTHING_NEW = 0;
const LINUX_PERSONALITY = 0;
const ASK_PERSONALITY = 0xffff_ffff;

/**
 * The filter as bytes. It refuses the listed calls and all that the kernel added since. Everything else is allowed, because tools of
 * all kinds run here. A system call of another architecture kills the process: no tool makes one by accident.
 */
export const buildFilter = (architecture: Architecture, options: FilterOptions): Buffer => {
  const { sockets, shares_machine = false, shares_user = false, own_sandbox = false, exec_once } = options;
  const listed = (calls: typeof REFUSED, error: number) =>
    Object.entries(calls)
      .filter(([name]) => !(own_sandbox && FOR_OWN_SANDBOX.includes(name)))
      .flatMap(([, numbers]) => numberOf(numbers, architecture) ?? [])
      .flatMap((number) => when('equal', number, [answer(errno(error))]));
  const inCall = (numbers: (typeof REFUSED)[string], body: readonly Instruction[]) =>
    when('equal', numberOf(numbers, architecture) ?? LAST_KNOWN, [...body, answer(ALLOW)]);
  const into = (name: keyof typeof LOOKED_INTO, body: readonly Instruction[]) => inCall(LOOKED_INTO[name], body);
  const refuse = (values: readonly number[]) => values.flatMap((value) => when('equal', value, [answer(errno(EPERM))]));
  const ofFamilies = (families: readonly number[]) => [
    load(argument(0)),
    ...families.flatMap((family) => when('equal', family, [answer(ALLOW)])),
    answer(errno(EAFNOSUPPORT)),
  ];
  const internet = sockets === 'inet' ? [AF_INET, AF_INET6] : [];
  // A socket for datagrams can write to any address, also if it is one of a pair. The others of a pair reach only each other.
  const no_datagrams = [load(argument(1)), ...when('any_bit', DATAGRAMS, [answer(errno(EPERM))])];
  return encode([
    load(ARCHITECTURE),
    ...unless('equal', AUDIT_ARCH[architecture], [answer(KILL_PROCESS)]),
    load(NUMBER),
    // The numbers of x32, a second and rarely tested entry into the same kernel, are all above it too.
    ...when('at_least', LAST_KNOWN + 1, [answer(errno(ENOSYS))]),
    ...into('ioctl', [
      load(argument(1)),
      ...refuse([TIOCSTI, TIOCLINUX, ...(shares_user ? [FIOSETOWN, SIOCSPGRP] : [])]),
    ]),
    ...into('socket', ofFamilies(shares_machine ? internet : [AF_UNIX, ...internet])),
    ...into('socketpair', [...(shares_machine ? no_datagrams : []), ...ofFamilies([AF_UNIX])]),
    ...into('clone', [
      load(argument(0)),
      ...(own_sandbox ? [] : when('any_bit', NAMESPACE_FLAGS, [answer(errno(EPERM))])),
    ]),
    // A tool may not change the limits of another process: `init` could not work if it could open no files.
    ...into('prlimit64', [
      load(argument(0)),
      ...when('equal', ITSELF, [answer(ALLOW)]),
      ...[argument(2), upperHalf(argument(2))].flatMap((half) => [
        load(half),
        ...unless('equal', NOTHING_NEW, [answer(errno(EPERM))]),
      ]),
    ]),
    ...into('personality', [
      load(argument(0)),
      ...[LINUX_PERSONALITY, ASK_PERSONALITY].flatMap((which) => when('equal', which, [answer(ALLOW)])),
      answer(errno(EPERM)),
    ]),
    ...(exec_once === undefined
      ? []
      : [
          ...into(
            'execve',
            exec_once.flatMap((word, index) => [
              load(argument(index + 3)),
              ...unless('equal', word, [answer(errno(EPERM))]),
            ]),
          ),
          ...when('equal', numberOf(EXECVEAT, architecture) ?? LAST_KNOWN, [answer(errno(EPERM))]),
        ]),
    ...(shares_user ? leaveOthersAlone(inCall, into, refuse) : []),
    ...(shares_user ? listed(BY_DESCRIPTOR, ENOSYS) : []),
    ...listed(REFUSED, EPERM),
    ...listed(NOT_THERE, ENOSYS),
    ...(shares_machine ? listed(OF_THE_MACHINE, EPERM) : []),
    answer(ALLOW),
  ]);
};

type Refuse = (values: readonly number[]) => Instruction[];
type InCall = (numbers: (typeof REFUSED)[string], body: readonly Instruction[]) => Instruction[];
type Into = (name: keyof typeof LOOKED_INTO, body: readonly Instruction[]) => Instruction[];

const leaveOthersAlone = (inCall: InCall, into: Into, refuse: Refuse): Instruction[] => {
  const unlessItself = unless('equal', ITSELF, [answer(errno(EPERM))]);
  return [
    ...Object.values(SIGNALS).flatMap((numbers) =>
      inCall(numbers, [load(argument(0)), ...refuse([EVERYBODY, INIT, GROUP_OF_INIT])]),
    ),
    ...Object.values(SCHEDULING).flatMap((numbers) => inCall(numbers, [load(argument(0)), ...unlessItself])),
    ...(['setpriority', 'ioprio_set'] as const).flatMap((name) =>
      into(name, [
        load(argument(0)),
        ...unless('equal', OF_PROCESS[name], [answer(errno(EPERM))]),
        load(argument(1)),
        ...unlessItself,
      ]),
    ),
    ...into('fcntl', [load(argument(1)), ...refuse([F_SETOWN, F_SETSIG, F_SETOWN_EX])]),
  ];
};

/** Where in the filter `init` has to write its own number, and where that of its process group. */
export const placesOf = (filter: Buffer): { init: number[]; group: number[] } => {
  const places = (value: number) =>
    Array.from({ length: filter.length / 8 }, (_, index) => index * 8 + 4).filter(
      (place) => filter.readUInt32LE(place) === value,
    );
  return { init: places(INIT), group: places(GROUP_OF_INIT) };
};
