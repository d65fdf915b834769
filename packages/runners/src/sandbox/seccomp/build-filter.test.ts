import { describe, expect, test } from 'vitest';
import { buildFilter, type FilterOptions } from './build-filter.js';
import { type Architecture, FOR_OWN_SANDBOX, NOT_THERE, numberOf, REFUSED } from './refused-calls.js';

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 };
const I386 = 0x40000003;
const ALLOW = 'allow';
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** What the kernel would answer: a BPF machine of the few instructions that filters have. */
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
  const { clone, socket, ioctl, openat, execve } = {
    x64: { clone: 56, socket: 41, ioctl: 16, openat: 257, execve: 59 },
    arm64: { clone: 220, socket: 198, ioctl: 29, openat: 56, execve: 221 },
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

  test('lets through what programs live on', () => {
    expect([openat, execve, ioctl, clone].map((number) => answer(number, 17))).toEqual([ALLOW, ALLOW, ALLOW, ALLOW]);
  });

  test('has no call that is newer than its list, and none of x32', () => {
    expect([463, 600, 0x40000000, 0x40000000 + openat].map((number) => answer(number))).toEqual(
      Array.from({ length: 4 }, () => ENOSYS),
    );
  });

  test('ends a process that calls by the numbers of another architecture', () => {
    expect(judge(buildFilter(architecture, { sockets: 'unix' }), I386, openat)).toBe('kill');
  });

  test('gives sockets of the internet only where they were granted', () => {
    const families = (sockets: 'unix' | 'inet') =>
      Array.from({ length: 50 }, (_, family) => family).filter(
        (family) => asked({ sockets })(socket, family) === ALLOW,
      );
    expect(families('unix')).toEqual([1]);
    expect(families('inet')).toEqual([1, 2, 10]);
    expect(answer(socket, 16)).toBe(EAFNOSUPPORT);
  });

  test('lets a browser make a sandbox of its own, and nothing else that others may not', () => {
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
