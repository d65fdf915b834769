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
  EXECVEAT,
  FOR_OWN_SANDBOX,
  LAST_KNOWN,
  LOOKED_INTO,
  NOT_THERE,
  numberOf,
  REFUSED,
} from './refused-calls.js';

export type FilterOptions = {
  /** Which sockets there are: only those within the machine, or those of the internet as well. */
  sockets: 'unix' | 'inet';
  /** For a program that makes a sandbox of its own inside: a browser. */
  own_sandbox?: boolean;
  /** It may start no other program: only who knows this, in arguments that `execve` does not have, may start one. */
  exec_once?: Password;
};

/** Below 2 ** 31 each. */
export type Password = readonly [number, number, number];

/** As the kernel names them to a filter. */
const AUDIT_ARCH: Record<Architecture, number> = { x64: 0xc000_003e, arm64: 0xc000_00b7 };

/** Linux's numbers, on whatever system this is built. */
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
/** New mount, cgroup, uts, ipc, user, pid and network namespaces. */
const NAMESPACE_FLAGS = 0x7e02_0000;
/** Of ioctl: puts what it is given into the input of a terminal, which somebody else may read as commands. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const ITSELF = 0;
const NOTHING_NEW = 0;
const LINUX_PERSONALITY = 0;
const ASK_PERSONALITY = 0xffff_ffff;

/**
 * The filter as bytes. It refuses what is listed and what the kernel got since; everything else is allowed, because tools of all
 * kinds run here. A system call of another architecture ends the process: nothing that runs here makes one by accident.
 */
export const buildFilter = (architecture: Architecture, options: FilterOptions): Buffer => {
  const { sockets, own_sandbox = false, exec_once } = options;
  const listed = (calls: typeof REFUSED, error: number) =>
    Object.entries(calls)
      .filter(([name]) => !(own_sandbox && FOR_OWN_SANDBOX.includes(name)))
      .flatMap(([, numbers]) => numberOf(numbers, architecture) ?? [])
      .flatMap((number) => when('equal', number, [answer(errno(error))]));
  const into = (name: keyof typeof LOOKED_INTO, body: readonly Instruction[]) =>
    when('equal', numberOf(LOOKED_INTO[name], architecture) ?? LAST_KNOWN, [...body, answer(ALLOW)]);
  const families = [AF_UNIX, ...(sockets === 'inet' ? [AF_INET, AF_INET6] : [])];
  const socket = [
    load(argument(0)),
    ...families.flatMap((family) => when('equal', family, [answer(ALLOW)])),
    answer(errno(EAFNOSUPPORT)),
  ];
  return encode([
    load(ARCHITECTURE),
    ...unless('equal', AUDIT_ARCH[architecture], [answer(KILL_PROCESS)]),
    load(NUMBER),
    // Those of x32, a second and rarely tested way into the same kernel, are all above it too.
    ...when('at_least', LAST_KNOWN + 1, [answer(errno(ENOSYS))]),
    ...into('ioctl', [
      load(argument(1)),
      ...[TIOCSTI, TIOCLINUX].flatMap((command) => when('equal', command, [answer(errno(EPERM))])),
    ]),
    ...into('socket', socket),
    ...into('socketpair', socket),
    ...into('clone', [
      load(argument(0)),
      ...(own_sandbox ? [] : when('any_bit', NAMESPACE_FLAGS, [answer(errno(EPERM))])),
    ]),
    // The limits of another process are its own: with none left to open files, `init` could not do its work.
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
    ...listed(REFUSED, EPERM),
    ...listed(NOT_THERE, ENOSYS),
    answer(ALLOW),
  ]);
};
