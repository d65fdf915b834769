import { describe, expect, test } from 'vitest';
import { buildFilter, type FilterOptions, placesOf } from './build-filter.js';
import {
  type Architecture,
  FOR_OWN_SANDBOX,
  NOT_THERE,
  numberOf,
  OF_THE_MACHINE,
  REFUSED,
  SCHEDULING,
  SIGNALS,
} from './refused-calls.js';

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 };
const I386 = 0x40000003;
const ALLOW = 'allow';
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** A BPF interpreter for the few instructions that filters use; returns the kernel's verdict. */
const judge = (
  program: Buffer,
  arch: number,
  number: number,
  args: readonly number[] = [],
): number | 'allow' | 'kill' => {
  const word = (offset: number): number => {
    if (offset === 0) return number;
    if (offset === 4) return arch;
    return (offset - 16) % 8 === 0 ? (args[(offset - 16) / 8] ?? 0) >>> 0 : 0;
  };
  let accumulator = 0;
  for (let at = 0; at < program.length; at += 8) {
    const [code, jt, jf] = [program.readUInt16LE(at), program.readUInt8(at + 2), program.readUInt8(at + 3)];
    const k = program.readUInt32LE(at + 4);
    if (code === 0x20) accumulator = word(k);
    else if (code === 0x06) return k === 0x7fff0000 ? 'allow' : k === 0x80000000 ? 'kill' : k & 0xffff;
    else {
      const passed =
        code === 0x15 ? accumulator === k : code === 0x35 ? accumulator >= k : (accumulator & k) >>> 0 !== 0;
      at += 8 * (passed ? jt : jf);
    }
  }
  throw new Error('it ran off its end');
};

describe.each(['x64', 'arm64'] as const)('the filter for %s', (architecture: Architecture) => {
  const { clone, socket, socketpair, ioctl, openat, execve } = {
    x64: { clone: 56, socket: 41, socketpair: 53, ioctl: 16, openat: 257, execve: 59 },
    arm64: { clone: 220, socket: 198, socketpair: 199, ioctl: 29, openat: 56, execve: 221 },
  }[architecture];
  const asked = (options: FilterOptions) => {
    const program = buildFilter(architecture, options);
    return (number: number, ...args: number[]) => judge(program, AUDIT_ARCH[architecture], number, args);
  };
  const answer = asked({ sockets: 'unix' });

  test('answers every listed call with its error', () => {
    for (const [calls, error] of [[REFUSED, EPERM] as const, [NOT_THERE, ENOSYS] as const])
      for (const [name, numbers] of Object.entries(calls)) {
        const number = numberOf(numbers, architecture);
        if (number !== null) expect([name, answer(number)]).toEqual([name, error]);
      }
  });

  test('refuses what reaches init and the worker, where all of them have one user', () => {
    const INIT = 4711;
    const program = buildFilter(architecture, { sockets: 'unix', shares_user: true });
    const { init, group } = placesOf(program);
    for (const place of init) program.writeUInt32LE(INIT, place);
    for (const place of group) program.writeInt32LE(-INIT, place);
    const judged = (number: number, ...args: number[]) => judge(program, AUDIT_ARCH[architecture], number, args);
    const at = architecture === 'x64' ? 0 : 1;
    for (const numbers of Object.values(SIGNALS)) {
      for (const whom of [INIT, -INIT, -1]) expect(judged(numbers[at], whom, 9)).toBe(EPERM);
      for (const whom of [0, 4712, -4712]) expect(judged(numbers[at], whom, 9)).toBe(ALLOW);
    }
    for (const numbers of Object.values(SCHEDULING))
      expect([judged(numbers[at], INIT), judged(numbers[at], 0)]).toEqual([EPERM, ALLOW]);
    const [setpriority, ioprio_set, fcntl] = [[141, 251, 72] as const, [140, 30, 25] as const][at] ?? [0, 0, 0];
    expect([judged(setpriority, 0, INIT), judged(setpriority, 2, 0), judged(setpriority, 0, 0)]).toEqual([
      EPERM,
      EPERM,
      ALLOW,
    ]);
    expect([judged(ioprio_set, 1, INIT), judged(ioprio_set, 3, 0), judged(ioprio_set, 1, 0)]).toEqual([
      EPERM,
      EPERM,
      ALLOW,
    ]);
    expect([8, 10, 15, 2].map((command) => judged(fcntl, 0, command))).toEqual([EPERM, EPERM, EPERM, ALLOW]);
    expect([0x8901, 0x8902, 0x5413].map((command) => judged(ioctl, 0, command))).toEqual([EPERM, EPERM, ALLOW]);
    expect(judged(424, 3, 9)).toBe(ENOSYS);
    expect(asked({ sockets: 'unix' })(424, 3, 9)).toBe(ALLOW);
  });

  test('allows the calls that ordinary programs need', () => {
    expect([openat, execve, ioctl, clone].map((number) => answer(number, 17))).toEqual([ALLOW, ALLOW, ALLOW, ALLOW]);
  });

  test('refuses calls newer than its list, and all calls of x32', () => {
    expect([463, 600, 0x40000000, 0x40000000 + openat].map((number) => answer(number))).toEqual(
      Array.from({ length: 4 }, () => ENOSYS),
    );
  });

  test('kills a process that makes a system call of another architecture', () => {
    expect(judge(buildFilter(architecture, { sockets: 'unix' }), I386, openat)).toBe('kill');
  });

  test('allows internet sockets only if they are granted', () => {
    const families = (sockets: 'unix' | 'inet') =>
      Array.from({ length: 50 }, (_, family) => family).filter(
        (family) => asked({ sockets })(socket, family) === ALLOW,
      );
    expect(families('unix')).toEqual([1]);
    expect(families('inet')).toEqual([1, 2, 10]);
    expect(answer(socket, 16)).toBe(EAFNOSUPPORT);
  });

  test('refuses what names others of the machine only where those can be reached', () => {
    const shared = asked({ sockets: 'inet', shares_machine: true });
    for (const [name, numbers] of Object.entries(OF_THE_MACHINE)) {
      const number = numberOf(numbers, architecture) ?? 0;
      expect([name, shared(number), answer(number)]).toEqual([name, EPERM, ALLOW]);
    }
    expect([1, 2, 10].map((family) => shared(socket, family))).toEqual([EAFNOSUPPORT, ALLOW, ALLOW]);
  });

  test('allows pairs of Unix sockets there, unless they could write to other addresses too', () => {
    const shared = asked({ sockets: 'unix', shares_machine: true });
    const [CLOEXEC, NONBLOCK] = [0x80000, 0x800];
    const types = (ask: typeof shared, flags: number) =>
      [1, 2, 3, 5].filter((type) => ask(socketpair, 1, type | flags) === ALLOW);
    for (const flags of [0, CLOEXEC, CLOEXEC | NONBLOCK]) expect(types(shared, flags)).toEqual([1, 5]);
    expect(types(answer, 0)).toEqual([1, 2, 3, 5]);
  });

  test('lets a browser create its own sandbox, and allows it nothing else that others may not do', () => {
    const browser = asked({ sockets: 'inet', own_sandbox: true });
    expect(answer(clone, 0x10000011)).toBe(EPERM);
    expect(browser(clone, 0x70000011)).toBe(ALLOW);
    const allowed = Object.entries(REFUSED).flatMap(([name, numbers]) => {
      const number = numberOf(numbers, architecture);
      return number !== null && browser(number) === ALLOW ? [name] : [];
    });
    expect(allowed.sort()).toEqual([...FOR_OWN_SANDBOX].sort());
  });
});
