import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createEgress } from '@capstan/egress';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Runner } from '../../runner.js';
import { createExecRunner } from '../create-exec-runner.js';
import { callOf, stdoutOf } from '../testing/on-each-level.js';
import { attackEachLevel } from './with-python.js';

const PYTHON = '/usr/bin/python3';
/** Objects on the machine that are accessible to everybody. */
const KEY = 0x0cab0000 + (process.pid % 0xffff);
const NAME = `capstan-shared-${process.pid}`;
const SOCKET = `/tmp/${NAME}`;
const [DGRAM, STREAM, RAW, SEQPACKET] = [2, 1, 3, 5];

/** Another program of the machine, with everything that programs share by a name, open to everybody. */
const OTHER = `
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
os.umask(0)
shm = libc.shmget(${KEY}, 4096, 0o1666)
sem = libc.semget(${KEY}, 1, 0o1666)
msg = libc.msgget(${KEY}, 0o1666)
queue = libc.mq_open(b'/${NAME}', 0o102, 0o666, None)
abstract = socket.socket(socket.AF_UNIX)
abstract.bind('\\0${NAME}')
abstract.listen(64)
path = socket.socket(socket.AF_UNIX)
path.bind('${SOCKET}')
path.listen(64)
letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
letters.bind('\\0${NAME}-letters')
print(min(shm, sem, msg, queue) >= 0, flush=True)
sys.stdin.read()
libc.shmctl(shm, 0, None)
libc.semctl(sem, 0, 0)
libc.msgctl(msg, 0, None)
libc.mq_unlink(b'/${NAME}')
os.unlink('${SOCKET}')
`;

/** Prints what it reached of the other program. RAW is another spelling of DGRAM, and a DGRAM socket of a pair writes to anybody. */
const REACH = `
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
for name, found in {
    'shm': libc.shmget(${KEY}, 0, 0),
    'sem': libc.semget(${KEY}, 0, 0),
    'msg': libc.msgget(${KEY}, 0),
    'queue': libc.mq_open(b'/${NAME}', 2, 0, None),
}.items():
    if found != -1: print(name)
def tried(name, attempt):
    try: attempt()
    except OSError: return
    print(name)
tried('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0${NAME}'))
tried('path', lambda: socket.socket(socket.AF_UNIX).connect('${SOCKET}'))
tried('letter', lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '\\0${NAME}-letters'))
for type in (${DGRAM}, ${RAW}, ${SEQPACKET}, ${STREAM}):
    tried(f'letter of a pair {type}', lambda: socket.socketpair(socket.AF_UNIX, type)[0].sendto(b'x', '\\0${NAME}-letters'))
    tried(f'connected pair {type}', lambda: socket.socketpair(socket.AF_UNIX, type)[0].connect('\\0${NAME}-letters'))
print('end')`;

/** The objects that a program without a sandbox can reach, to show that they are reachable. */
const outside = async (): Promise<string[]> => {
  const { stdout } = spawn(PYTHON, ['-c', REACH], { stdio: ['ignore', 'pipe', 'inherit'] });
  return (await text(stdout)).split('\n');
};

attackEachLevel(({ attack, run, level }) => {
  let other: ChildProcess;
  beforeAll(async () => {
    const child = spawn(PYTHON, ['-c', OTHER], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [ready] = await once(child.stdout, 'data');
    expect(String(ready)).toContain('True');
    other = child;
  });
  afterAll(async () => {
    const ended = once(other, 'exit');
    other.stdin?.end();
    await ended;
  });

  test('shared objects of other programs cannot be reached by name', async () => {
    const all = [
      'shm',
      'sem',
      'msg',
      'queue',
      'abstract',
      'path',
      'letter',
      'letter of a pair 2',
      'letter of a pair 3',
    ];
    expect(await outside()).toEqual(expect.arrayContaining(all));
    expect(await attack(REACH)).toBe('end');
  });

  test('a pair of sockets works, which runtimes need to talk to their children', async () => {
    expect(
      await attack(`
import socket
for type in (${STREAM}, ${SEQPACKET}):
    one, two = socket.socketpair(socket.AF_UNIX, type)
    one.send(b'x')
    print(two.recv(1))`),
    ).toBe("b'x'\nb'x'");
  });

  test.each([
    [PYTHON, '-c', 'import asyncio, subprocess; asyncio.run(asyncio.sleep(0)); subprocess.run(["true"], check=True)'],
    ['node', '-e', 'require("node:child_process").execFileSync("true")'],
    ['git', 'init', '--quiet', '.'],
    ['curl', '--version'],
  ])('common programs run as before: %s', async (...command) => {
    expect(await run(command)).toMatchObject({ success: true });
  });

  describe.skipIf(level === 'process')('with network', () => {
    let work_dir: string;
    let runner: Runner;
    beforeAll(async () => {
      work_dir = await mkdtemp(join(tmpdir(), 'shared-'));
      const env = { PATH: '/usr/bin:/bin' };
      runner = createExecRunner({ work_dir, env, sandbox_levels: [level], egress: createEgress() });
    });
    afterAll(async () => {
      await runner.close?.();
      await rm(work_dir, { recursive: true });
    });

    test('no further objects can be reached', async () => {
      const limits = { timeout_ms: 30_000, max_output_bytes: 10_000, shell: true, network: ['example.com'] };
      const outcome = await runner.run(callOf({ cmd: [PYTHON, '-c', REACH] }, { limits }));
      expect(stdoutOf(outcome)).toBe('end\n');
    });
  });
});
