import { type Architecture, NOT_THERE, numberOf, OF_THE_MACHINE, REFUSED } from '@capstan/sandbox/testing';
import { expect, test } from 'vitest';
import { attackEachLevel } from './with-python.js';

const architecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
const pick = <T>(x64: T, arm64: T): T => (architecture === 'x64' ? x64 : arm64);
const CLONE = pick(56, 220);
const SOCKET = pick(41, 198);
const SOCKETPAIR = pick(53, 199);
const PERSONALITY = pick(135, 92);
const IOCTL = pick(16, 29);
const KEYCTL = pick(250, 219);
const EXIT = pick(60, 93);

attackEachLevel(({ attack, level }) => {
  test.each([
    [{ ...REFUSED, ...(level === 'process' ? OF_THE_MACHINE : {}) }, 'EPERM'],
    [NOT_THERE, 'ENOSYS'],
  ])('no listed system call gets through (%#)', async (calls, error) => {
    const numbers = Object.entries(calls).flatMap(([name, each]) => {
      const number = numberOf(each, architecture);
      return number === null ? [] : [[name, number]];
    });
    const answers = await attack(`
for name, number in ${JSON.stringify(numbers)}:
    print(name, call(number, 0, 0, 0, 0, 0, 0))`);
    expect(answers.split('\n')).toEqual(numbers.map(([name]) => `${name} ${error}`));
  });

  test('keys of other processes cannot be read', async () => {
    const [GET_KEYRING_ID, SESSION, USER, USER_SESSION] = [0, -3, -4, -5];
    expect(
      await attack(
        `print(*[call(${KEYCTL}, ${GET_KEYRING_ID}, k, 1) for k in (${SESSION}, ${USER}, ${USER_SESSION})])`,
      ),
    ).toBe('EPERM EPERM EPERM');
  });

  test('namespaces cannot be created with any system call', async () => {
    const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000];
    const answers = await attack(`
for flag in ${JSON.stringify(flags)}:
    made = call(${CLONE}, flag | 17, 0, 0, 0, 0)
    if made == 0: call(${EXIT}, 0)
    print(made)`);
    expect(answers.split('\n')).toEqual(flags.map(() => 'EPERM'));
  });

  test('a run without network has only local sockets', async () => {
    const answers = await attack(`
print(*[f for f in range(0, 60) if isinstance(call(${SOCKET}, f, 1, 0), int)])
print(*[f for f in range(0, 60) if isinstance(call(${SOCKETPAIR}, f, 1, 0, (ctypes.c_int * 2)()), int)])
print(call(${SOCKET}, (7 << 32) | 2, 1, 0))`);
    // At this level only pairs of sockets are allowed, because sockets could reach others on the machine.
    expect(answers).toBe(`${level === 'process' ? '' : '1'}\n1\nEAFNOSUPPORT`);
  });

  test('input cannot be injected into a terminal, whatever the upper half of the command is', async () => {
    const commands = ['0x5412', '0x541C', '0x5412 | (1 << 32)', '0x541C | (9 << 40)'];
    expect(await attack(`print(*[call(${IOCTL}, 0, c, b'x') for c in (${commands})])`)).toBe('EPERM EPERM EPERM EPERM');
  });

  test('the personality of a process cannot be changed', async () => {
    expect(await attack(`print(*[call(${PERSONALITY}, p) for p in (0xffffffff, 0x0040000, 0x0400000, 8)])`)).toBe(
      '0 EPERM EPERM EPERM',
    );
  });

  test('system calls added to Linux later are not available', async () => {
    expect(await attack('print({call(n, 0, 0, 0, 0, 0, 0) for n in range(463, 600)})')).toBe("{'ENOSYS'}");
  });

  test.runIf(architecture === 'x64')('the system calls of x32 are not available', async () => {
    expect(await attack('print({call(0x40000000 + n, 0, 0, 0, 0) for n in range(0, 548)})')).toBe("{'ENOSYS'}");
  });

  test.runIf(architecture === 'x64')('a system call of 32 bits ends the process', async () => {
    // mov eax, 20 (getpid); int 0x80; ret
    const answer = await attack(`
import mmap
if os.fork() == 0:
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex('b814000000cd80c3'))
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
    os._exit(0)
print(os.WTERMSIG(os.wait()[1]))`);
    expect(answer).toBe('31');
  });
});
